"""The inference gateway: where its proxies run, what they log, how they end."""

from __future__ import annotations

import re
from typing import Any

from components.inference import InferenceGateway, InferenceGatewayArgs
from tests.unit.components.inference_stacks import platform
from tests.unit.components.recording import Recorded, record


def gateway(**model: Any) -> Recorded:
    args = InferenceGatewayArgs(platform(**model))
    return record(lambda: InferenceGateway("inference", args), preview=True)


def proxies() -> dict[str, Any]:
    spec: dict[str, Any] = gateway().kubernetes("EnvoyProxy", "inference").inputs["spec"]
    return spec


def test_the_gateway_is_reached_by_a_fixed_name_inside_the_cluster_only() -> None:
    assert proxies()["provider"]["kubernetes"]["envoyService"] == {"name": "inference-gateway", "type": "ClusterIP"}
    spec = gateway().kubernetes("Gateway", "inference").inputs["spec"]
    (listener,) = spec["listeners"]
    assert (listener["port"], listener["protocol"]) == (8080, "HTTP")
    assert spec["infrastructure"]["parametersRef"]["name"] == "inference"


def test_routes_of_other_namespaces_can_not_attach() -> None:
    (listener,) = gateway().kubernetes("Gateway", "inference").inputs["spec"]["listeners"]
    assert listener["allowedRoutes"]["namespaces"] == {"from": "Same"}


def test_two_proxies_run_on_the_business_pool_on_nodes_of_their_own() -> None:
    deployment = proxies()["provider"]["kubernetes"]["envoyDeployment"]
    assert deployment["replicas"] == 2
    assert deployment["pod"]["nodeSelector"] == {"lantau.internal/pool": "business"}
    (spread,) = deployment["pod"]["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert proxies()["provider"]["kubernetes"]["envoyPDB"] == {"maxUnavailable": 1}


def test_proxies_have_requests_and_limits() -> None:
    resources = proxies()["provider"]["kubernetes"]["envoyDeployment"]["container"]["resources"]
    assert set(resources) == {"requests", "limits"}
    assert resources["requests"]["memory"] == resources["limits"]["memory"]


def access_log() -> dict[str, str]:
    (setting,) = proxies()["telemetry"]["accessLog"]["settings"]
    assert setting["format"]["type"] == "JSON"
    assert setting["sinks"] == [{"type": "File", "file": {"path": "/dev/stdout"}}]
    fields: dict[str, str] = setting["format"]["json"]
    return fields


def test_every_request_is_logged_with_its_trace_id() -> None:
    assert access_log()["request_id"] == "%REQ(X-REQUEST-ID)%"


def test_no_body_query_or_other_header_is_logged() -> None:
    operators = " ".join(access_log().values())
    headers = set(re.findall(r"%REQ(?:_WITHOUT_QUERY)?\(([^)]*)\)%", operators))
    assert headers == {"X-REQUEST-ID", ":METHOD", "X-ENVOY-ORIGINAL-PATH?:PATH"}
    assert "%REQ(X-ENVOY-ORIGINAL-PATH" not in operators, "the query would be logged with it"
    for operator in ("BODY", "RESP(", "TRAILER", "DYNAMIC_METADATA"):
        assert operator not in operators


def test_a_trace_id_of_the_edge_is_kept() -> None:
    policy = gateway().kubernetes("ClientTrafficPolicy", "inference").inputs["spec"]
    assert policy["headers"]["requestID"] == "PreserveOrGenerate"
    assert policy["path"]["escapedSlashesAction"] == "RejectRequest"


def test_a_proxy_that_ends_lets_the_longest_answer_finish() -> None:
    seconds = int(proxies()["shutdown"]["drainTimeout"].removesuffix("s"))
    longest = max(each.limits.longest_answer_seconds for each in platform().releases.values())
    assert seconds > longest


def test_the_gateway_waits_for_the_shape_of_its_proxies() -> None:
    recorded = gateway()
    shape = recorded.kubernetes("EnvoyProxy", "inference")
    assert shape.urn in recorded.kubernetes("Gateway", "inference").depends_on


def test_a_rollback_leaves_the_gateway_alone() -> None:
    before = gateway(stable="qwen3-8b-r3", canary=None, previous="qwen3-8b-r2")
    after = gateway(stable="qwen3-8b-r2", canary=None, previous="qwen3-8b-r3")
    assert [each.inputs for each in before.resources] == [each.inputs for each in after.resources]


def test_outputs_name_the_service() -> None:
    recorded = gateway()
    component = recorded.one("lantau:inference:InferenceGateway")
    assert recorded.outputs_registered[component.urn] == {
        "service": "inference-gateway.envoy-gateway-system",
        "port": 8080,
    }

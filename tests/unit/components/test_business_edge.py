"""The edge gateway: who gets in, to which paths, how often, and what is written down."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.business import EdgeGateway, EdgeGatewayArgs
from lantau.platform import Platform
from tests.unit.components.business_stacks import Changes, needed_by, platform, previewed
from tests.unit.components.recording import Recorded

CLIENTS: Changes = {
    "business": {"clients": ["web", "partner-a"]},
    "rollout": {"audiences": {"internal": ["web", "partner-a"]}},
}


def opened(step: str, share: int = 10) -> dict[str, Any]:
    """Three clients, one of each audience, at a step of the roll-out."""
    return {
        "business": {"clients": ["web", "lab", "office"], "requests_per_second": 20},
        "rollout": {"step": step, "share": share, "audiences": {"team": ["lab"], "internal": ["office"]}},
    }


def edge(changes: Changes | None = None) -> Recorded:
    return previewed(_program, changes)


def _program(platform: Platform) -> object:
    return EdgeGateway("edge", EdgeGatewayArgs(platform))


def spec(kind: str, name: str = "edge", changes: Changes | None = None) -> dict[str, Any]:
    found: dict[str, Any] = edge(changes).kubernetes(kind, name, "lantau-business").inputs["spec"]
    return found


def test_the_edge_speaks_https_for_one_host_and_nothing_else() -> None:
    (listener,) = spec("Gateway")["listeners"]
    assert (listener["port"], listener["protocol"], listener["hostname"]) == (443, "HTTPS", "ai.sandbox.example")
    assert listener["tls"] == {
        "mode": "Terminate",
        "certificateRefs": [{"group": "", "kind": "Secret", "name": "edge-tls"}],
    }
    assert listener["allowedRoutes"]["namespaces"] == {"from": "Same"}
    assert spec("ClientTrafficPolicy")["tls"] == {"minVersion": "1.2"}


def test_only_the_api_can_be_reached_from_outside() -> None:
    route = spec("HTTPRoute", "backend")
    assert route["hostnames"] == ["ai.sandbox.example"]
    assert [(each["name"], each["sectionName"]) for each in route["parentRefs"]] == [("edge", "https")]
    (rule,) = route["rules"]
    assert [each["path"] for each in rule["matches"]] == [{"type": "PathPrefix", "value": "/v1"}]
    assert [(each["name"], each["port"]) for each in rule["backendRefs"]] == [("backend", 8080)]


def test_slashes_in_disguise_are_refused() -> None:
    assert spec("ClientTrafficPolicy")["path"] == {
        "escapedSlashesAction": "RejectRequest",
        "disableMergeSlashes": False,
    }


def test_nobody_gets_in_without_a_key() -> None:
    policy = spec("SecurityPolicy")
    assert [(each["kind"], each["name"]) for each in policy["targetRefs"]] == [("Gateway", "edge")], (
        "a policy of one route would leave later routes open"
    )
    auth = policy["apiKeyAuth"]
    assert [each["name"] for each in auth["credentialRefs"]] == ["edge-api-keys"]
    assert auth["extractFrom"] == [{"headers": ["x-api-key"]}], "a key in the query would be logged on the way"


def test_the_backend_learns_the_clients_name_and_not_its_key() -> None:
    auth = spec("SecurityPolicy")["apiKeyAuth"]
    assert auth["forwardClientIDHeader"] == "x-client-id"
    assert auth["sanitize"] is True


def test_a_client_can_not_name_itself() -> None:
    assert spec("ClientTrafficPolicy")["headers"]["earlyRequestHeaders"] == {"remove": ["x-client-id"]}


def test_only_clients_of_the_stack_get_in_even_if_the_secret_holds_more() -> None:
    authorization = spec("SecurityPolicy", changes=CLIENTS)["authorization"]
    assert authorization["defaultAction"] == "Deny"
    (rule,) = authorization["rules"]
    assert rule["action"] == "Allow"
    assert rule["principal"]["headers"] == [{"name": "x-client-id", "values": ["partner-a", "web"]}]


def test_each_client_has_a_key_of_its_own_in_the_managed_store() -> None:
    secret = edge(CLIENTS).one("lantau:index:ManagedSecret")
    assert secret.inputs["name"] == "lantau/sandbox/business/api-keys"
    assert set(secret.inputs["fields"]) == {"web", "partner-a"}
    for field in secret.inputs["fields"].values():
        assert field["kind"] == "random"
        assert field["length"] >= 32
        assert field["prefix"] == "lantau_", "scanners know a leaked key by it"
        assert field["rotate"] is False, "a new epoch must not lock every client out at once"


def test_the_delivered_secret_names_each_key_by_its_client() -> None:
    (delivery,) = (each for each in edge(CLIENTS).resources if each.type.endswith(":ExternalSecret"))
    found = delivery.inputs["spec"]
    assert found["target"]["name"] == "edge-api-keys"
    assert found["target"]["template"]["data"] == {
        "web": "{{ .client_web }}",
        "partner-a": "{{ .client_partner_a }}",
    }
    properties = {each["secretKey"]: each["remoteRef"]["property"] for each in found["data"]}
    assert properties == {"client_web": "web", "client_partner_a": "partner-a"}


def test_each_client_is_limited_by_itself() -> None:
    policy = spec("BackendTrafficPolicy", "backend", {"business": {"requests_per_second": 7}})
    (rule,) = policy["rateLimit"]["local"]["rules"]
    assert rule["clientSelectors"] == [{"headers": [{"type": "Distinct", "name": "x-client-id"}]}]
    assert rule["limit"] == {"requests": 7, "unit": "Second"}


@pytest.mark.parametrize(
    ("step", "inside"),
    [("team", ["lab"]), ("internal", ["lab", "office"]), ("partial", ["lab", "office", "web"])],
)
def test_who_is_not_reached_by_the_roll_out_is_no_client_of_the_gateway(step: str, inside: list[str]) -> None:
    (rule,) = spec("SecurityPolicy", changes=opened(step))["authorization"]["rules"]
    assert rule["principal"]["headers"] == [{"name": "x-client-id", "values": inside}]
    (delivery,) = (each for each in edge(opened(step)).resources if each.type.endswith(":ExternalSecret"))
    assert sorted(delivery.inputs["spec"]["target"]["template"]["data"]) == inside


def test_a_client_that_is_not_reached_keeps_its_key_in_the_store() -> None:
    assert set(edge(opened("team")).one("lantau:index:ManagedSecret").inputs["fields"]) == {"web", "lab", "office"}


def test_at_step_partial_the_public_gets_its_share_of_requests_and_nobody_else_less() -> None:
    rules = spec("BackendTrafficPolicy", "backend", opened("partial"))["rateLimit"]["local"]["rules"]
    found = {rule["clientSelectors"][0]["headers"][1]["value"]: rule["limit"]["requests"] for rule in rules}
    assert found == {"^(web)$": 2, "^(lab|office)$": 20}
    assert all(rule["clientSelectors"][0]["headers"][0]["type"] == "Distinct" for rule in rules), "each by itself"


def test_a_small_share_still_lets_a_request_through() -> None:
    rules = spec("BackendTrafficPolicy", "backend", opened("partial", share=1))["rateLimit"]["local"]["rules"]
    assert sorted(rule["limit"]["requests"] for rule in rules) == [1, 20]


def test_expressions_of_many_clients_stay_within_what_the_gateway_takes() -> None:
    many = [f"c{number:02}" + "x" * 37 for number in range(38)]
    changes = opened("partial") | {"business": {"clients": [*many, "lab", "office"]}}
    rules = spec("BackendTrafficPolicy", "backend", changes)["rateLimit"]["local"]["rules"]
    values = [rule["clientSelectors"][0]["headers"][1]["value"] for rule in rules]
    assert all(len(value) <= 1024 for value in values)
    assert all(any(name in value for value in values) for name in many)


def test_large_slow_and_many_requests_are_bounded() -> None:
    policy = spec("BackendTrafficPolicy", "backend")
    assert policy["requestBuffer"] == {"limit": "20Mi"}
    assert policy["circuitBreaker"]["maxParallelRequests"] == 1024
    callers = spec("ClientTrafficPolicy")
    assert callers["connection"]["connectionLimit"]["value"] == 4096
    assert callers["timeout"]["http"]["requestHeadersReceivedTimeout"] == "10s"
    assert callers["timeout"]["http"]["requestReceivedTimeout"] == "60s"


def test_nothing_that_the_backend_may_have_seen_is_sent_twice() -> None:
    assert spec("BackendTrafficPolicy", "backend")["retry"]["retryOn"]["triggers"] == [
        "connect-failure",
        "refused-stream",
    ]


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_the_edge_waits_longer_than_the_longest_answer() -> None:
    longest = max(release.limits.longest_answer_seconds for release in platform().releases.values())
    (rule,) = spec("HTTPRoute", "backend")["rules"]
    assert seconds(rule["timeouts"]["request"]) > longest
    assert seconds(spec("ClientTrafficPolicy")["timeout"]["http"]["streamIdleTimeout"]) > longest
    assert seconds(spec("EnvoyProxy")["shutdown"]["drainTimeout"]) > longest


def access_log() -> dict[str, str]:
    (setting,) = spec("EnvoyProxy")["telemetry"]["accessLog"]["settings"]
    assert setting["format"]["type"] == "JSON"
    assert setting["sinks"] == [{"type": "File", "file": {"path": "/dev/stdout"}}]
    fields: dict[str, str] = setting["format"]["json"]
    return fields


def test_every_request_is_logged_with_its_trace_id_and_its_client() -> None:
    assert access_log()["request_id"] == "%REQ(X-REQUEST-ID)%"
    assert access_log()["client"] == "%REQ(X-CLIENT-ID)%"


def test_no_body_query_key_or_cookie_is_logged() -> None:
    operators = " ".join(access_log().values())
    headers = set(re.findall(r"%REQ(?:_WITHOUT_QUERY)?\(([^)]*)\)%", operators))
    assert headers == {"X-REQUEST-ID", "X-CLIENT-ID", ":METHOD", ":AUTHORITY", "X-ENVOY-ORIGINAL-PATH?:PATH"}
    assert "%REQ(X-ENVOY-ORIGINAL-PATH" not in operators, "the query would be logged with it"
    for operator in ("BODY", "RESP(", "TRAILER", "DYNAMIC_METADATA"):
        assert operator not in operators


def test_the_trace_id_is_made_at_the_edge_and_told_to_the_client() -> None:
    headers = spec("ClientTrafficPolicy")["headers"]
    assert headers["requestID"] == "Generate"
    answer = {each["name"]: each["value"] for each in headers["lateResponseHeaders"]["set"]}
    assert answer["x-request-id"] == "%REQ(X-REQUEST-ID)%"
    assert answer["strict-transport-security"].startswith("max-age=")


def test_the_proxys_health_is_asked_without_the_backend() -> None:
    assert spec("ClientTrafficPolicy")["healthCheck"] == {"path": "/healthz"}


def test_two_proxies_run_on_the_business_pool_and_are_reached_from_outside() -> None:
    provider = spec("EnvoyProxy")["provider"]["kubernetes"]
    assert provider["envoyService"] == {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}
    assert provider["envoyPDB"] == {"maxUnavailable": 1}
    deployment = provider["envoyDeployment"]
    assert deployment["replicas"] == 2
    assert deployment["pod"]["nodeSelector"] == {"lantau.internal/pool": "business"}
    assert deployment["pod"]["priorityClassName"] == "lantau-standard"
    (spread,) = deployment["pod"]["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"] == {
        "gateway.envoyproxy.io/owning-gateway-name": "edge",
        "gateway.envoyproxy.io/owning-gateway-namespace": "lantau-business",
    }
    resources = deployment["container"]["resources"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"]


def test_the_proxies_security_context_stays_the_controllers_hardened_one() -> None:
    deployment = spec("EnvoyProxy")["provider"]["kubernetes"]["envoyDeployment"]
    assert "securityContext" not in deployment["container"]
    assert "securityContext" not in deployment["pod"]


def test_no_path_leads_in_before_keys_limits_and_log_are_in_place() -> None:
    recorded = edge()
    route = recorded.kubernetes("HTTPRoute", "backend")
    waited = {(each.type.rpartition(":")[2], each.kubernetes_name) for each in needed_by(recorded, route)}
    assert waited >= {
        ("Gateway", "edge"),
        ("EnvoyProxy", "edge"),
        ("ClientTrafficPolicy", "edge"),
        ("SecurityPolicy", "edge"),
        ("BackendTrafficPolicy", "backend"),
        ("Delivery", ""),
    }

"""A served model: who gets which share, what a promotion and a rollback touch, and what callers can reach."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from components.inference import ServedModel, ServedModelArgs, base_url
from components.inference.kinds import RouteMatch
from components.inference.routes import route
from lantau.release.engine_args import Route
from tests.unit.components.inference_stacks import CANARY, PROMOTED, ROLLED_BACK, difference, platform, served
from tests.unit.components.recording import Recorded, Resource, record

OTHER_ROUTES_OF_VLLM = (
    "/pause", "/resume", "/abort_requests", "/update_weights", "/init_weight_transfer_engine", "/sleep", "/wake_up",
    "/collective_rpc", "/reset_prefix_cache", "/load", "/metrics", "/health", "/version", "/tokenize", "/detokenize",
    "/invocations", "/score", "/rerank", "/pooling", "/classify", "/docs", "/openapi.json",
    "/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/v1/responses", "/v1/messages",
)  # fmt: skip


def route_of(recorded: Recorded) -> Resource:
    return recorded.kubernetes("HTTPRoute", "chat")


def rules(recorded: Recorded) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = route_of(recorded).inputs["spec"]["rules"]
    return found


def weights(recorded: Recorded) -> dict[str, int]:
    """Weight by Service; every rule has to have the same."""
    split = [{each["name"]: each["weight"] for each in rule["backendRefs"]} for rule in rules(recorded)]
    assert all(each == split[0] for each in split), "a model's routes must not be split differently"
    return split[0]


@pytest.mark.parametrize("state", [CANARY, PROMOTED, ROLLED_BACK, CANARY | {"canary": None, "previous": None}])
def test_the_weights_sum_to_100(state: dict[str, Any]) -> None:
    assert sum(weights(served(**state)).values()) == 100


def test_the_canary_gets_its_share_and_the_warm_release_none() -> None:
    assert weights(served()) == {"chat-qwen3-8b-r2": 95, "chat-qwen3-8b-r3": 5, "chat-qwen3-8b-r1": 0}


def test_weights_that_do_not_sum_to_100_are_refused() -> None:
    with pytest.raises(ValueError, match="sum to 105, not to 100"):
        route("chat", [Route("models", "/v1/models", "GET")], weights={"a": 100, "b": 5}, timeout_seconds=1)


def test_the_route_waits_until_every_release_is_ready() -> None:
    recorded = served()
    for deployment in recorded.of_type("kubernetes:apps/v1:Deployment"):
        assert deployment.urn in route_of(recorded).depends_on, "no share before the pods are Ready"
    for service in recorded.of_type("kubernetes:core/v1:Service"):
        assert service.urn in route_of(recorded).depends_on


def test_the_route_waits_for_limits_and_network() -> None:
    recorded = served()
    assert recorded.kubernetes("BackendTrafficPolicy", "chat").urn in route_of(recorded).depends_on
    assert recorded.kubernetes("NetworkPolicy", "chat-from-gateway").urn in route_of(recorded).depends_on


def test_starting_a_canary_leaves_what_serves_alone() -> None:
    changes = difference(served(canary=None), served())
    assert changes["update"] == {("HTTPRoute", "chat")}
    assert changes["delete"] == set()
    assert {kind for kind, _ in changes["create"]} == {"ConfigMap", "Deployment", "Service", "ServiceAccount"}
    assert all(name.startswith("chat-qwen3-8b-r3") for _, name in changes["create"])


def test_a_promotion_changes_only_the_route_and_replicas() -> None:
    before, after = served(), served(**PROMOTED)
    changes = difference(before, after)
    assert changes["update"] == {("HTTPRoute", "chat"), ("Deployment", "chat-qwen3-8b-r3")}
    assert changes["create"] == {("PodDisruptionBudget", "chat-qwen3-8b-r3")}, "it has two pods now"
    assert all(name.startswith("chat-qwen3-8b-r1") for _, name in changes["delete"]), "only the oldest release goes"
    old, new = (each.kubernetes("Deployment", "chat-qwen3-8b-r3").inputs["spec"] for each in (before, after))
    assert {key for key in new if new[key] != old[key]} == {"replicas"}, "its pods must not restart"
    assert new["replicas"] > old["replicas"], "it grows before it gets everything"


def test_a_promotion_does_not_shrink_the_release_that_served() -> None:
    before, after = served(), served(**PROMOTED)
    for each in (before, after):
        assert each.kubernetes("Deployment", "chat-qwen3-8b-r2").inputs["spec"]["replicas"] == 2


def test_a_rollback_is_a_change_of_the_route_alone() -> None:
    changes = difference(served(**PROMOTED), served(**ROLLED_BACK))
    assert changes == {"create": set(), "delete": set(), "update": {("HTTPRoute", "chat")}}


def test_a_rollback_touches_at_most_three_resources_when_the_limits_differ_too() -> None:
    slower = {"qwen3-8b-r3": {"limits": {"requests_per_second": 10, "tokens_per_second": 12}}}
    changes = difference(served(slower, **PROMOTED), served(slower, **ROLLED_BACK))
    assert changes["update"] == {("HTTPRoute", "chat"), ("BackendTrafficPolicy", "chat")}
    assert not changes["create"] | changes["delete"]


def test_aborting_a_canary_takes_its_share_before_its_pods() -> None:
    changes = difference(served(), served(canary=None))
    assert changes["update"] == {("HTTPRoute", "chat")}
    assert changes["create"] == set()
    assert {name for kind, name in changes["delete"] if kind != "ConfigMap"} == {"chat-qwen3-8b-r3"}


def test_the_pods_of_a_release_do_not_depend_on_its_role() -> None:
    as_canary, as_stable, as_previous = served(), served(**PROMOTED), served(**ROLLED_BACK)
    templates = [
        each.kubernetes("Deployment", "chat-qwen3-8b-r3").inputs["spec"]["template"]
        for each in (as_canary, as_stable, as_previous)
    ]
    assert templates[0] == templates[1] == templates[2]
    urns = {each.kubernetes("Deployment", "chat-qwen3-8b-r3").urn for each in (as_canary, as_stable, as_previous)}
    assert len(urns) == 1, "Pulumi has to see one and the same resource"


def test_the_engines_other_routes_have_no_match() -> None:
    matches = [match for rule in rules(served()) for match in rule["matches"]]
    assert all(match["path"]["type"] == "Exact" for match in matches)
    open_paths = {match["path"]["value"] for match in matches}
    rewritten = {rule["filters"][0]["urlRewrite"]["path"]["replaceFullPath"] for rule in rules(served())}
    for path in OTHER_ROUTES_OF_VLLM:
        assert path not in rewritten
        assert not {path, f"/chat{path}"} & open_paths
    assert len(open_paths) == 5


def test_a_prefix_can_not_be_matched_by_mistake() -> None:
    with pytest.raises(ValidationError, match="Exact"):
        RouteMatch.model_validate({"path": {"type": "PathPrefix", "value": "/"}, "method": "POST"})


def test_each_path_of_a_model_leads_to_the_same_path_of_its_engine() -> None:
    for rule in rules(served()):
        (match,) = rule["matches"]
        assert f"/chat{rule['filters'][0]['urlRewrite']['path']['replaceFullPath']}" == match["path"]["value"]
        assert match["method"] == ("GET" if rule["name"] == "models" else "POST")


def test_a_stream_outlives_no_time_out() -> None:
    slow = {"qwen3-8b-r1": {"limits": {"tokens_per_second": 5}}}
    for rule in rules(served(slow)):
        seconds = int(rule["timeouts"]["request"].removesuffix("s"))
        assert seconds > 4096 / 5, "an answer of the slowest running release must fit, or a rollback would cut it"


def test_limits_are_those_of_the_stable_release_split_over_the_proxies() -> None:
    slower = {"qwen3-8b-r2": {"limits": {"requests_per_second": 41}}}
    policy = served(slower).kubernetes("BackendTrafficPolicy", "chat").inputs["spec"]
    (rule,) = policy["rateLimit"]["local"]["rules"]
    assert rule["limit"] == {"requests": 21, "unit": "Second"}


def test_the_circuit_breaker_holds_what_the_engines_can_run() -> None:
    policy = served().kubernetes("BackendTrafficPolicy", "chat").inputs["spec"]
    running = 2 * 96
    assert policy["circuitBreaker"]["maxParallelRequests"] >= running
    assert policy["circuitBreaker"]["maxConnections"] >= policy["circuitBreaker"]["maxParallelRequests"]


def test_nothing_is_tried_again_once_an_answer_has_begun() -> None:
    policy = served().kubernetes("BackendTrafficPolicy", "chat").inputs["spec"]
    assert set(policy["retry"]["retryOn"]["triggers"]) <= {
        "connect-failure",
        "refused-stream",
        "reset-before-request",
        "retriable-status-codes",
    }
    assert policy["retry"]["retryOn"]["httpStatusCodes"] == [503], "500 may be an answer that had begun"
    assert policy["circuitBreaker"]["retryBudget"]["percent"]["numerator"] <= 20


def test_the_gateway_drops_idle_connections_before_the_engine_does() -> None:
    recorded = served()
    policy = recorded.kubernetes("BackendTrafficPolicy", "chat").inputs["spec"]
    pod = recorded.kubernetes("Deployment", "chat-qwen3-8b-r2").inputs["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    kept = next(int(each["value"]) for each in container["env"] if each["name"] == "VLLM_HTTP_TIMEOUT_KEEP_ALIVE")
    assert int(policy["timeout"]["http"]["connectionIdleTimeout"].removesuffix("s")) < kept


def test_only_the_gateways_proxies_reach_an_engine() -> None:
    recorded = served()
    (policy,) = recorded.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
    (rule,) = policy.inputs["spec"]["ingress"]
    assert rule["ports"] == [{"port": 8000, "protocol": "TCP"}]
    (peer,) = rule["from"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "envoy-gateway-system"}
    assert peer["podSelector"]["matchLabels"] == {
        "gateway.envoyproxy.io/owning-gateway-name": "inference",
        "gateway.envoyproxy.io/owning-gateway-namespace": "lantau-inference",
    }
    selector = policy.inputs["spec"]["podSelector"]["matchLabels"].items()
    for deployment in recorded.of_type("kubernetes:apps/v1:Deployment"):
        assert selector <= deployment.inputs["spec"]["template"]["metadata"]["labels"].items()


def test_an_engine_may_talk_to_nobody() -> None:
    policies = served().of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
    assert [policy.inputs["spec"]["policyTypes"] for policy in policies] == [["Ingress"]]
    assert not any("egress" in policy.inputs["spec"] for policy in policies)


@pytest.mark.parametrize(
    ("canary_pods", "free", "surge", "says"),
    [
        (2, 0, False, "ends each pod before it starts the new one"),
        (1, 1, True, "starts each new pod before it ends an old one"),
    ],
)
def test_the_shape_of_a_roll_out_follows_the_spare_cards_and_is_said(
    monkeypatch: pytest.MonkeyPatch, canary_pods: int, free: int, surge: bool, says: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr("pulumi.log.info", lambda message, **_: said.append(message))
    checked = platform(replicas=7, canary={"release": "qwen3-8b-r3", "replicas": canary_pods})
    assert checked.cards_free("online-a100") == free, "16 cards, 7 each for stable and previous"
    recorded = record(lambda: ServedModel("chat", ServedModelArgs(checked, "chat")))
    for deployment in recorded.of_type("kubernetes:apps/v1:Deployment"):
        shape = deployment.inputs["spec"]["strategy"]["rollingUpdate"]
        assert shape == {"maxSurge": 1 if surge else 0, "maxUnavailable": 0 if surge else 1}
    (message,) = said
    assert says in message
    assert f"pool online-a100 has {free} cards to spare" in message


def test_callers_are_told_one_address() -> None:
    recorded = served()
    model = recorded.one("lantau:inference:ServedModel")
    assert recorded.outputs_registered[model.urn] == {
        "base_url": "http://inference-gateway.envoy-gateway-system.svc:8080/chat/v1",
        "stable": "qwen3-8b-r2",
        "weights": {"qwen3-8b-r2": 95, "qwen3-8b-r3": 5, "qwen3-8b-r1": 0},
    }
    assert base_url("chat") == "http://inference-gateway.envoy-gateway-system.svc:8080/chat/v1"


def test_children_carry_the_models_name_and_stand_below_it() -> None:
    recorded = served()
    model = recorded.one("lantau:inference:ServedModel")
    for each in recorded.resources:
        assert "chat" in each.name
        assert each.parent
        assert each is model or model.type in each.urn

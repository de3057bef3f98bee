"""Business tier and vector store together: flows match at both ends, nothing secret is an input, order is right."""

from __future__ import annotations

from typing import Any

import pytest

from components.business import BusinessTier, BusinessTierArgs
from components.inference import PROXIES, base_url
from lantau.endpoints import EDGE_GATEWAY, INFERENCE, PROXY_NAMESPACE
from lantau.labels import NAMESPACE_BUSINESS
from lantau.problems import InvalidInput
from lantau.stack import parse_stack
from tests.unit.components.business_stacks import needed_by, platform, tiers
from tests.unit.components.recording import Recorded, record

POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"


def flows(recorded: Recorded, direction: str) -> set[tuple[Any, ...]]:
    """(namespace and labels of caller, of callee, port) of every rule of a direction."""
    found: set[tuple[Any, ...]] = set()
    for policy in recorded.of_type(POLICY):
        spec = policy.inputs["spec"]
        own = (policy.namespace, frozenset(spec["podSelector"]["matchLabels"].items()))
        for rule in spec.get(direction, []):
            for peer in rule["from" if direction == "ingress" else "to"]:
                namespace = peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
                other = (namespace, frozenset(peer["podSelector"]["matchLabels"].items()))
                ends = (other, own) if direction == "ingress" else (own, other)
                found |= {(*ends, each["port"]) for each in rule["ports"]}
    return found


def test_every_flow_between_our_namespaces_is_open_at_both_ends() -> None:
    recorded = tiers({"vector": {"replicas": 2}})
    ours = {"lantau-business", "lantau-vector"}

    def inside(direction: str) -> set[tuple[Any, ...]]:
        return {flow for flow in flows(recorded, direction) if {flow[0][0], flow[1][0]} <= ours}

    assert inside("ingress") == inside("egress")
    assert len(inside("ingress")) == 5, "queue, two ports of Qdrant, two between its peers"


def test_every_end_of_a_flow_is_the_pods_of_a_workload() -> None:
    recorded = tiers({"vector": {"replicas": 2}})
    pods = [
        (each.namespace, each.inputs["spec"]["template"]["metadata"]["labels"].items())
        for each in recorded.resources
        if each.type.rpartition(":")[2] in ("Deployment", "StatefulSet")
    ]
    for caller, callee, _ in flows(recorded, "ingress") | flows(recorded, "egress"):
        for namespace, labels in (caller, callee):
            if namespace != PROXY_NAMESPACE:
                assert [pod for pod in pods if pod[0] == namespace and labels <= pod[1]], labels


def test_the_backends_way_to_the_models_is_the_inference_gateways_own_address() -> None:
    assert base_url("chat") == f"http://{INFERENCE.host}:{INFERENCE.ports['http']}/chat/v1"
    assert (PROXIES.namespace, dict(PROXIES.labels)) == (INFERENCE.namespace, dict(INFERENCE.pod_labels))


def test_no_input_of_either_tier_is_a_secret_or_a_secret_object() -> None:
    recorded = tiers()
    assert {each.name: each.secrets for each in recorded.resources if each.secrets} == {}
    assert [each.name for each in recorded.resources if each.type.endswith(":Secret")] == []


def test_every_component_registers_outputs_and_contains_its_children() -> None:
    recorded = tiers()
    for component in recorded.components():
        assert component.urn in recorded.outputs_registered, component.name
        for child in recorded.children(component):
            assert component.name in child.name or child.type == POLICY


def test_a_preview_knows_every_input() -> None:
    assert "UNKNOWN" not in repr([each.inputs for each in tiers().resources])


def test_the_backend_starts_after_the_queue_and_after_its_keys() -> None:
    recorded = tiers()
    deployment = recorded.kubernetes("Deployment", "backend")
    waited = {(each.type.rpartition(":")[2], each.kubernetes_name) for each in needed_by(recorded, deployment)}
    assert {("TaskQueue", ""), ("Delivery", ""), ("NamespaceStore", "")} <= waited


def test_each_namespace_reads_the_store_by_a_role_of_its_own() -> None:
    accounts = {
        each.namespace: each.inputs["metadata"]["annotations"]["eks.amazonaws.com/role-arn"]
        for each in tiers().of_type("kubernetes:core/v1:ServiceAccount")
        if each.kubernetes_name == "secrets-reader"
    }
    assert accounts == {
        "lantau-business": "arn:aws:iam::123456789012:role/lantau-sandbox-business",
        "lantau-vector": "arn:aws:iam::123456789012:role/lantau-sandbox-vector",
    }


def test_every_workload_keeps_to_its_pool_and_mounts_no_token() -> None:
    pools = {"backend": "business", "queue": "business", "qdrant": "data"}
    recorded = tiers()
    workloads = [each for each in recorded.resources if each.type.rpartition(":")[2] in ("Deployment", "StatefulSet")]
    assert {each.kubernetes_name for each in workloads} == set(pools)
    for each in workloads:
        pod = each.inputs["spec"]["template"]["spec"]
        (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        (expression,) = term["matchExpressions"]
        assert expression == {
            "key": "lantau.internal/pool",
            "operator": "In",
            "values": [pools[each.kubernetes_name]],
        }
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["serviceAccountName"] == each.kubernetes_name


def test_the_tier_tells_the_address_for_callers() -> None:
    recorded = record(lambda: BusinessTier("business", BusinessTierArgs(platform())).url, preview=True)
    assert recorded.result == "https://ai.sandbox.example"
    tier = recorded.one("lantau:business:BusinessTier")
    assert recorded.outputs_registered[tier.urn] == {"url": "https://ai.sandbox.example"}


def test_the_backend_admits_the_proxies_of_the_gateway_that_is_declared() -> None:
    assert tiers().kubernetes("Gateway", EDGE_GATEWAY).namespace == NAMESPACE_BUSINESS


def test_a_client_that_is_named_twice_is_refused() -> None:
    data = platform().stack.model_dump(mode="json")
    data["business"]["clients"] = ["web", "web"]
    with pytest.raises(InvalidInput, match=r"clients.*these clients are named twice: web"):
        parse_stack(data)

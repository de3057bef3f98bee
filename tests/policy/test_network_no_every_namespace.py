"""NET-05."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.networks import admin, calico, cilium, net_policy

NAMESPACE = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-b"}}}
POD = {"podSelector": {"matchLabels": {"app": "web"}}}


@pytest.mark.parametrize(
    "peers",
    [
        [{"namespaceSelector": {}}],
        [POD, {"namespaceSelector": {"matchLabels": {}}}],
        [{"namespaceSelector": {}, **POD}],
        [NAMESPACE, POD],
    ],
)
def test_every_namespace_is_refused(peers: list[dict[str, Any]]) -> None:
    assert fires("NET-05", net_policy(ingress=[{"from": peers}]))


@pytest.mark.parametrize(
    "peers", [[NAMESPACE], [POD], [{**NAMESPACE, **POD}], [{"ipBlock": {"cidr": "10.0.0.0/8"}}, POD]]
)
def test_selected_namespaces_pass(peers: list[dict[str, Any]]) -> None:
    assert clean("NET-05", net_policy(ingress=[{"from": peers}], egress=[{"to": peers}]))


def test_cluster_dns_may_be_asked_wherever_it_runs() -> None:
    dns = {"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}
    assert clean("NET-05", net_policy(egress=[{"to": [dns], "ports": [{"port": 53, "protocol": "UDP"}]}]))
    assert fires("NET-05", net_policy(egress=[{"to": [{"namespaceSelector": {}}]}]))


def test_an_unknown_selector_is_left_to_the_update() -> None:
    assert judge("NET-05", net_policy(ingress=[{"from": [{"namespaceSelector": UNKNOWN}]}])).unjudged


NAME = "kubernetes.io/metadata.name"
POD_NAMESPACE = "k8s:io.kubernetes.pod.namespace"


@pytest.mark.parametrize(
    "expression",
    [
        {"key": NAME, "operator": "Exists"},
        {"key": NAME, "operator": "NotIn", "values": ["kube-public"]},
        {"key": "tenant", "operator": "DoesNotExist"},
    ],
)
def test_a_selector_that_only_leaves_some_out_is_refused(expression: dict[str, Any]) -> None:
    assert fires("NET-05", net_policy(ingress=[{"from": [{"namespaceSelector": {"matchExpressions": [expression]}}]}]))


@pytest.mark.parametrize(
    "expression", [{"key": NAME, "operator": "In", "values": ["a", "b"]}, {"key": "tenant", "operator": "Exists"}]
)
def test_a_selector_that_demands_a_label_passes(expression: dict[str, Any]) -> None:
    assert clean("NET-05", net_policy(ingress=[{"from": [{"namespaceSelector": {"matchExpressions": [expression]}}]}]))


@pytest.mark.parametrize(
    "policy",
    [
        cilium(ingress=[{"fromEntities": ["cluster"]}]),
        cilium(ingress=[{"fromEndpoints": [{"matchExpressions": [{"key": POD_NAMESPACE, "operator": "Exists"}]}]}]),
        cilium(wide=True, ingress=[{"fromEndpoints": [{}]}]),
        calico(ingress=[{"action": "Allow", "source": {"namespaceSelector": "all()"}}]),
        calico(ingress=[{"action": "Allow", "source": {"namespaceSelector": "has(projectcalico.org/name)"}}]),
        calico(wide=True, ingress=[{"action": "Allow", "source": {"selector": "all()"}}]),
        admin(ingress=[{"name": "x", "action": "Allow", "from": [{"namespaces": {}}]}]),
        admin("BaselineAdminNetworkPolicy", ingress=[{"name": "x", "action": "Allow", "from": [{"pods": {}}]}]),
    ],
)
def test_every_namespace_in_other_dialects_is_refused(policy: dict[str, Any]) -> None:
    assert fires("NET-05", policy)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(ingress=[{"fromEndpoints": [{}]}]),
        cilium(ingress=[{"fromEndpoints": [{"matchLabels": {POD_NAMESPACE: "team-b"}}]}]),
        cilium(wide=True, ingress=[{"fromEndpoints": [{"matchLabels": {"app": "web"}}]}]),
        calico(ingress=[{"action": "Allow", "source": {"selector": "all()"}}]),
        calico(ingress=[{"action": "Allow", "source": {"namespaceSelector": "team == 'b'"}}]),
        admin(ingress=[{"name": "x", "action": "Deny", "from": [{"namespaces": {}}]}]),
        admin(ingress=[{"name": "x", "action": "Pass", "from": [{"namespaces": {}}]}]),
        admin(ingress=[{"name": "x", "action": "Allow", "from": [{"namespaces": {"matchLabels": {"a": "b"}}}]}]),
    ],
)
def test_selected_namespaces_in_other_dialects_pass(policy: dict[str, Any]) -> None:
    assert clean("NET-05", policy)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(ingress=[{"fromEndpoints": [UNKNOWN]}]),
        calico(ingress=[{"action": "Allow", "source": {"namespaceSelector": UNKNOWN}}]),
        admin(ingress=[{"name": "x", "action": "Allow", "from": [{"namespaces": UNKNOWN}]}]),
    ],
)
def test_unknown_selectors_in_other_dialects_are_left_to_the_update(policy: dict[str, Any]) -> None:
    assert judge("NET-05", policy).unjudged

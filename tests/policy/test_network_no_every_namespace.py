"""NET-05."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.networks import net_policy

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

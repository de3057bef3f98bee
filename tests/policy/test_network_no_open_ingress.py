"""NET-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import listed
from tests.policy.networks import calico, cilium, net_policy

PEER = {"podSelector": {"matchLabels": {"app": "web"}}}


@pytest.mark.parametrize("rule", [{}, {"from": []}, {"ports": [{"port": 80}]}, {"from": [{}]}, {"from": None}])
def test_ingress_from_everyone_is_refused(rule: dict[str, Any]) -> None:
    manifest = net_policy(ingress=[{"from": [PEER]}, rule])
    assert judge("NET-02", manifest).paths == ["spec.ingress[1]"]
    assert fires("NET-02", listed(manifest))
    assert fires("NET-02", net_policy(api="extensions/v1beta1", ingress=[rule]))


@pytest.mark.parametrize("spec", [{}, {"ingress": []}, {"ingress": [{"from": [PEER]}]}, {"egress": [{}]}])
def test_named_peers_pass(spec: dict[str, Any]) -> None:
    assert clean("NET-02", net_policy(**spec))


def test_unknown_peers_are_left_to_the_update() -> None:
    assert judge("NET-02", net_policy(ingress=[{"from": UNKNOWN}])).unjudged
    assert judge("NET-02", net_policy(ingress=[UNKNOWN, {}])).messages


PORTS = [{"ports": [{"port": "80"}]}]


@pytest.mark.parametrize(
    "policy",
    [
        cilium(ingress=[{"toPorts": PORTS}]),
        cilium(ingress=[{"fromEndpoints": [{}]}, {"icmps": [{"fields": [{"type": 8}]}]}]),
        cilium(wide=True, ingress=[{"toPorts": PORTS}]),
        {**cilium(), "spec": None, "specs": [{"endpointSelector": {}, "ingress": [{"toPorts": PORTS}]}]},
        calico(ingress=[{"action": "Allow"}]),
        calico(ingress=[{"action": "Deny"}, {"action": "Allow", "source": {"ports": [1024]}}]),
        calico(ingress=[{"action": "Allow", "source": {"notNets": ["10.0.0.0/8"]}}]),
        calico(wide=True, api="crd.projectcalico.org/v1", types=["Ingress"], ingress=[{"action": "Allow"}]),
    ],
)
def test_other_dialects_are_judged_by_what_they_mean(policy: dict[str, Any]) -> None:
    assert fires("NET-02", policy)
    assert fires("NET-02", listed(policy))


@pytest.mark.parametrize(
    "policy",
    [
        cilium(ingress=[{}]),
        cilium(ingress=[{"fromEndpoints": [], "toPorts": PORTS}]),
        cilium(ingress=[{"fromEntities": ["kube-apiserver"], "toPorts": PORTS}]),
        cilium(ingressDeny=[{"toPorts": PORTS}]),
        calico(ingress=[{"action": "Deny"}, {"action": "Log"}]),
        calico(ingress=[{"action": "Allow", "source": {"selector": "app == 'web'"}}]),
        calico(types=["Egress"], ingress=[{"action": "Allow"}]),
        net_policy(policyTypes=["Egress"], ingress=[{}]),
    ],
)
def test_rules_that_let_nobody_or_somebody_through_pass(policy: dict[str, Any]) -> None:
    assert clean("NET-02", policy)


@pytest.mark.parametrize(
    "policy", [cilium(ingress=[UNKNOWN]), calico(ingress=[{"action": "Allow", "source": UNKNOWN}])]
)
def test_unknown_peers_of_other_dialects_are_left_to_the_update(policy: dict[str, Any]) -> None:
    assert judge("NET-02", policy).unjudged

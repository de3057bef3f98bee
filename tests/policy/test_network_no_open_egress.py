"""NET-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.networks import calico, cilium, net_policy

PEER = {"podSelector": {"matchLabels": {"app": "db"}}}


@pytest.mark.parametrize("rule", [{}, {"to": []}, {"ports": [{"port": 443}]}, {"to": [{}]}])
def test_egress_to_anywhere_is_refused(rule: dict[str, Any]) -> None:
    assert judge("NET-03", net_policy(egress=[{"to": [PEER]}, rule])).paths == ["spec.egress[1]"]


@pytest.mark.parametrize("spec", [{}, {"egress": []}, {"egress": [{"to": [PEER]}]}, {"ingress": [{}]}])
def test_named_peers_pass(spec: dict[str, Any]) -> None:
    assert clean("NET-03", net_policy(**spec))


def test_unknown_peers_are_left_to_the_update() -> None:
    assert judge("NET-03", net_policy(egress=[{"to": UNKNOWN}])).unjudged


@pytest.mark.parametrize(
    "policy",
    [
        cilium(egress=[{"toPorts": [{"ports": [{"port": "443"}]}]}]),
        calico(egress=[{"action": "Allow"}]),
        calico(egress=[{"action": "Allow", "protocol": "TCP", "destination": {"ports": [443]}}]),
    ],
)
def test_other_dialects_are_judged_by_what_they_mean(policy: dict[str, Any]) -> None:
    assert fires("NET-03", policy)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(egress=[{}]),
        cilium(egress=[{"toFQDNs": [{"matchName": "api.example.com"}], "toPorts": [{"ports": [{"port": "443"}]}]}]),
        cilium(egress=[{"toServices": [{"k8sService": {"serviceName": "x"}}]}]),
        calico(egress=[{"action": "Pass"}, {"action": "Allow", "destination": {"nets": ["10.0.0.0/8"]}}]),
        net_policy(policyTypes=["Ingress"], egress=[{}]),
    ],
)
def test_rules_that_let_nobody_or_somebody_through_pass(policy: dict[str, Any]) -> None:
    assert clean("NET-03", policy)

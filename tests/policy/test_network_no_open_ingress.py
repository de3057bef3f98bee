"""NET-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import listed
from tests.policy.networks import net_policy

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

"""NET-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, judge
from tests.policy.networks import net_policy

PEER = {"podSelector": {"matchLabels": {"app": "db"}}}


@pytest.mark.parametrize("rule", [{}, {"to": []}, {"ports": [{"port": 443}]}, {"to": [{}]}])
def test_egress_to_anywhere_is_refused(rule: dict[str, Any]) -> None:
    assert judge("NET-03", net_policy(egress=[{"to": [PEER]}, rule])).paths == ["spec.egress[1]"]


@pytest.mark.parametrize("spec", [{}, {"egress": []}, {"egress": [{"to": [PEER]}]}, {"ingress": [{}]}])
def test_named_peers_pass(spec: dict[str, Any]) -> None:
    assert clean("NET-03", net_policy(**spec))


def test_unknown_peers_are_left_to_the_update() -> None:
    assert judge("NET-03", net_policy(egress=[{"to": UNKNOWN}])).unjudged

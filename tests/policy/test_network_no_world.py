"""NET-04."""

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.networks import net_policy


def blocks(*cidrs: str) -> list[dict[str, object]]:
    return [{"ipBlock": {"cidr": cidr}} for cidr in cidrs]


@pytest.mark.parametrize(
    "cidrs",
    [
        ["0.0.0.0/0"],
        ["::/0"],
        ["0.0.0.0/1", "128.0.0.0/1"],
        ["0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/2", "192.0.0.0/2"],
        ["10.0.0.0/8", "0.0.0.0/0"],
        ["2000::/3"],
        ["::ffff:0:0/96"],
        ["1.2.3.4/0"],
    ],
)
def test_the_world_is_refused_in_one_piece_or_many(cidrs: list[str]) -> None:
    assert fires("NET-04", net_policy(egress=[{"to": blocks(*cidrs)}]))
    assert fires("NET-04", net_policy(ingress=[{"from": blocks(*cidrs)}]))
    assert fires("NET-04", net_policy(egress=[{"to": blocks(cidr)} for cidr in cidrs]))


def test_exceptions_do_not_make_the_world_small() -> None:
    block = {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8", "169.254.169.254/32"]}}
    assert fires("NET-04", net_policy(egress=[{"to": [block]}]))


@pytest.mark.parametrize(
    "cidrs", [["10.0.0.0/8"], ["203.0.113.0/24"], ["fc00::/7"], ["2001:db8::/32"], ["192.168.0.0/16"]]
)
def test_named_networks_pass(cidrs: list[str]) -> None:
    assert clean("NET-04", net_policy(egress=[{"to": blocks(*cidrs)}]))


def test_an_unknown_block_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("NET-04", net_policy(egress=[{"to": blocks(UNKNOWN, "0.0.0.0/0")}]))
    assert outcome.messages
    assert outcome.unjudged

"""NET-04."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.networks import admin, calico, cilium, net_policy


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


HALVES = ["0.0.0.0/1", "128.0.0.0/1"]


@pytest.mark.parametrize(
    "policy",
    [
        cilium(ingress=[{"fromEntities": ["world"]}]),
        cilium(egress=[{"toEntities": ["kube-apiserver", "all"]}]),
        cilium(egress=[{"toEntities": ["world-ipv6"]}]),
        cilium(egress=[{"toCIDR": ["0.0.0.0/0"]}]),
        cilium(egress=[{"toCIDRSet": [{"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}]}]),
        cilium(ingress=[{"fromCIDR": HALVES}]),
        cilium(egress=[{"toFQDNs": [{"matchPattern": "*"}]}]),
        cilium(egress=[{"toFQDNs": [{"matchPattern": "*.com"}]}]),
        cilium(ingress=[{"fromEndpoints": [{"matchLabels": {"reserved:world": ""}}]}]),
        calico(egress=[{"action": "Allow", "destination": {"nets": ["0.0.0.0/0"]}}]),
        calico(
            ingress=[
                {"action": "Allow", "source": {"nets": [HALVES[0]]}},
                {"action": "Allow", "source": {"nets": [HALVES[1]]}},
            ]
        ),
        calico(egress=[{"action": "Allow", "destination": {"domains": ["*"]}}]),
        admin(egress=[{"name": "x", "action": "Allow", "to": [{"networks": ["::/0"]}]}]),
        admin(egress=[{"name": "x", "action": "Accept", "to": [{"domainNames": ["*"]}]}]),
        net_policy(egress=[{"to": [{"ipBlock": {"cidr": "::ffff:0:0/95"}}]}]),
        net_policy(egress=[{"to": [{"ipBlock": {"cidr": "::ffff:0.0.0.0/97"}}]}]),
        net_policy(egress=[{"to": [{"ipBlock": {"cidr": "64:ff9b::/96"}}]}]),
    ],
)
def test_the_world_in_other_words_is_refused(policy: dict[str, Any]) -> None:
    assert fires("NET-04", policy)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(egress=[{"toEntities": ["cluster"]}]),
        cilium(egressDeny=[{"toEntities": ["world"]}]),
        cilium(egress=[{"toFQDNs": [{"matchPattern": "*.example.com"}]}]),
        cilium(egress=[{"toCIDRSet": [{"cidr": "10.0.0.0/8"}]}]),
        calico(egress=[{"action": "Deny", "destination": {"nets": ["0.0.0.0/0"]}}]),
        calico(egress=[{"action": "Allow", "destination": {"nets": ["0.0.0.0/0"], "notNets": ["0.0.0.0/0"]}}]),
        admin(egress=[{"name": "x", "action": "Deny", "to": [{"networks": ["0.0.0.0/0"]}]}]),
        net_policy(egress=[{"to": [{"ipBlock": {"cidr": "::ffff:203.0.113.0/120"}}]}]),
    ],
)
def test_closed_worlds_of_other_dialects_pass(policy: dict[str, Any]) -> None:
    assert clean("NET-04", policy)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(egress=[{"toCIDR": [UNKNOWN]}]),
        cilium(egress=[{"toEntities": [UNKNOWN]}]),
        calico(egress=[{"action": "Allow", "destination": {"nets": [UNKNOWN]}}]),
        admin(egress=[{"name": "x", "action": "Allow", "to": [{"networks": [UNKNOWN]}]}]),
    ],
)
def test_unknown_blocks_of_other_dialects_are_left_to_the_update(policy: dict[str, Any]) -> None:
    assert judge("NET-04", policy).unjudged

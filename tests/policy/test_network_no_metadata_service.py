"""NET-06."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.networks import calico, cilium, net_policy


def egress(cidr: str, *excepted: str) -> dict[str, Any]:
    block = {"cidr": cidr} | ({"except": list(excepted)} if excepted else {})
    return net_policy(egress=[{"to": [{"ipBlock": block}]}])


@pytest.mark.parametrize(
    "manifest",
    [
        egress("169.254.169.254/32"),
        egress("169.254.0.0/16"),
        egress("0.0.0.0/0", "10.0.0.0/8"),
        egress("0.0.0.0/0", "169.254.169.254/32"),
        egress("100.64.0.0/10"),
        egress("::/0"),
    ],
)
def test_a_block_that_holds_a_metadata_address_is_refused(manifest: dict[str, Any]) -> None:
    assert fires("NET-06", manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        egress("0.0.0.0/0", "169.254.0.0/16", "100.100.100.200/32"),
        egress("10.0.0.0/8"),
        net_policy(ingress=[{"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]),
    ],
)
def test_other_blocks_pass(manifest: dict[str, Any]) -> None:
    assert clean("NET-06", manifest)


def test_an_unknown_block_is_left_to_the_update() -> None:
    assert judge("NET-06", egress(UNKNOWN)).unjudged


ADDRESS = "169.254.169.254/32"


@pytest.mark.parametrize(
    "policy",
    [
        cilium(egress=[{"toCIDR": [ADDRESS]}]),
        cilium(egress=[{"toCIDRSet": [{"cidr": "169.254.0.0/16", "except": ["169.254.169.253/32"]}]}]),
        calico(egress=[{"action": "Allow", "destination": {"nets": [ADDRESS]}}]),
        net_policy(egress=[{"to": [{"ipBlock": {"cidr": "::ffff:169.254.169.254/128"}}]}]),
        net_policy(egress=[{"to": [{"ipBlock": {"cidr": "64:ff9b::a9fe:a9fe/128"}}]}]),
    ],
)
def test_the_service_in_other_words_is_refused(policy: dict[str, Any]) -> None:
    assert fires("NET-06", policy)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(egressDeny=[{"toCIDR": [ADDRESS]}]),
        cilium(egress=[{"toCIDRSet": [{"cidr": "169.254.0.0/16", "except": [ADDRESS]}]}]),
        calico(egress=[{"action": "Deny", "destination": {"nets": [ADDRESS]}}]),
        calico(egress=[{"action": "Allow", "destination": {"nets": ["169.254.0.0/16"], "notNets": [ADDRESS]}}]),
    ],
)
def test_what_keeps_it_out_passes(policy: dict[str, Any]) -> None:
    assert clean("NET-06", policy)

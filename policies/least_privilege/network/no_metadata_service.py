"""NET-06: no egress to the cloud's metadata service."""

import ipaddress
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.policies import KINDS, policies_of
from policies.model.resource import Resource
from policies.settings import Settings

_SERVICES: Final = tuple(map(ipaddress.ip_address, ("169.254.169.254", "100.100.100.200", "fd00:ec2::254")))


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find egress blocks that hold a metadata address and do not except it."""
    del settings
    for policy in policies_of(resource):
        for peer in (peer for traffic in policy.allows["Egress"] for peer in traffic.peers):
            if peer.addresses is None:
                yield Unjudged(f"{policy.obj}: {peer.path}")
                continue
            held = [a for a in _SERVICES if any(a in network for network in peer.addresses)]
            if held:
                yield Finding(peer.path, f"this block holds the metadata address {held[0]}", policy.obj)


RULE: Final = Rule(
    control="NET-06",
    name="network-no-metadata-service",
    title="No network rule lets pods reach the metadata service",
    why="The metadata service hands out the node's own credentials.",
    fix="Add the metadata addresses to the block's `except`.",
    severity=Severity.HIGH,
    nsa="Network separation and hardening (C-0052)",
    kinds=KINDS,
    check=check,
)

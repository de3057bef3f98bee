"""NET-04: no rule opens the world."""

import ipaddress
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.policies import KINDS, policies_of
from policies.least_privilege.network.traffic import DIRECTIONS, Address, total, wraps_all_ipv4
from policies.model.resource import Resource
from policies.settings import Settings

# Addresses inside; opening them is no opening of the world.
_PRIVATE: Final = tuple(
    ipaddress.ip_network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10")
)
_LIMITS: Final = {4: 2**29, 6: 2**117}
"""From an eighth of the IPv4 addresses, or a /11 of IPv6, a list of blocks is the world in pieces."""


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find address blocks of a direction that add up to the world, in either IP version."""
    del settings
    for policy in policies_of(resource):
        for direction in DIRECTIONS:
            found: list[tuple[str, Address]] = []
            for peer in (peer for traffic in policy.allows[direction] for peer in traffic.peers):
                if peer.addresses is None:
                    yield Unjudged(f"{policy.obj}: {peer.path}")
                elif peer.world:
                    yield Finding(peer.path, f"this lets {direction.lower()} reach the whole world", policy.obj)
                else:
                    found += [(peer.path, network) for network in peer.addresses if not _private(network)]
            for version, limit in _LIMITS.items():
                if total([network for _, network in found], version) >= limit:
                    path = next(path for path, network in found if network.version == version)
                    yield Finding(path, f"these blocks let {direction.lower()} reach most of the world", policy.obj)
                    break
            else:
                yield from (
                    Finding(path, "this block holds every IPv4 address", policy.obj)
                    for path, network in found
                    if wraps_all_ipv4(network)
                )


def _private(network: Address) -> bool:
    return any(
        network.version == private.version and network.subnet_of(private)  # type: ignore[arg-type]
        for private in _PRIVATE
    )


RULE: Final = Rule(
    control="NET-04",
    name="network-no-world",
    title="No network rule opens the world",
    why="Egress to everywhere is how data leaves; ingress from everywhere is how attackers come.",
    fix="List the blocks that are needed; send the rest through a gateway.",
    severity=Severity.HIGH,
    nsa="Network separation and hardening (C-0030)",
    kinds=KINDS,
    check=check,
)

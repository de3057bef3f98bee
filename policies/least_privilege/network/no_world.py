"""NET-04: no rule opens the world."""

import ipaddress
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.peers import Network, blocks, total
from policies.least_privilege.network.policies import DIRECTIONS, policies_of
from policies.model.resource import Resource
from policies.settings import Settings

# Addresses inside; opening them is no opening of the world.
_PRIVATE: Final = tuple(
    ipaddress.ip_network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10")
)
_MAPPED: Final = ipaddress.ip_network("::ffff:0:0/96")
_LIMITS: Final = {4: 2**29, 6: 2**117}
"""From an eighth of the IPv4 addresses, or a /11 of IPv6, a list of blocks is the world in pieces."""


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find address blocks of a direction that add up to the world, in either IP version."""
    del settings
    for policy in policies_of(resource):
        for direction in DIRECTIONS:
            found: list[tuple[str, Network]] = []
            for path, block in blocks(policy, direction):
                if block is None:
                    yield Unjudged(f"{policy.obj}: {path}")
                else:
                    found += [(block.path, network) for network in block.networks if not _private(network)]
            for version, limit in _LIMITS.items():
                if total([network for _, network in found], version) >= limit:
                    path = next(path for path, network in found if network.version == version)
                    yield Finding(path, f"these blocks let {direction.lower()} reach most of the world", policy.obj)
            if any(network == _MAPPED for _, network in found):
                yield Finding(found[0][0], "this block maps all of IPv4", policy.obj)


def _private(network: Network) -> bool:
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
    kinds=frozenset({"NetworkPolicy"}),
    check=check,
)

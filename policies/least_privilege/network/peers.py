"""Peers of network rules, and the addresses they let through."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from policies.least_privilege.network.policies import NetPolicy
from policies.model.values import UNKNOWN, Plain, items

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
PEERS: Final = {"Ingress": "from", "Egress": "to"}


@dataclass(frozen=True, slots=True)
class Block:
    """Addresses of one ipBlock after its exceptions."""

    path: str
    networks: tuple[Network, ...]


def peers(policy: NetPolicy, direction: str) -> Iterator[tuple[str, Plain]]:
    """Peers of all rules of a direction with their paths; unknown rules are unknown peers."""
    for path, rule in policy.rules(direction):
        if rule is UNKNOWN:
            yield path, UNKNOWN
        elif isinstance(rule, dict):
            yield from items(rule.get(PEERS[direction]), f"{path}.{PEERS[direction]}")


def blocks(policy: NetPolicy, direction: str) -> Iterator[tuple[str, Block | None]]:
    """ipBlocks of a direction; None for those that hang on an unknown."""
    for path, peer in peers(policy, direction):
        block = peer.get("ipBlock") if isinstance(peer, dict) else peer
        if block is UNKNOWN:
            yield path, None
        elif isinstance(block, dict):
            excepted = block.get("except")
            members = [block.get("cidr"), *(excepted if isinstance(excepted, list) else [excepted])]
            if any(member is UNKNOWN for member in members):
                yield path, None
                continue
            cidr = _network(members[0])
            if cidr is not None:
                holes = [hole for hole in map(_network, members[1:]) if hole is not None]
                yield path, Block(f"{path}.ipBlock", tuple(_without(cidr, holes)))


def _network(value: Plain) -> Network | None:
    if not isinstance(value, str):
        return None
    try:
        return ipaddress.ip_network(value.strip(), strict=False)
    except ValueError:
        return None


def _without(network: Network, holes: list[Network]) -> list[Network]:
    rest: list[Network] = [network]
    for hole in holes:
        left: list[Network] = []
        for part in rest:
            if part.version != hole.version or not part.overlaps(hole):
                left.append(part)
            elif hole.prefixlen > part.prefixlen:
                left.extend(part.address_exclude(hole))  # type: ignore[arg-type]
        rest = left
    return rest


def total(networks: list[Network], version: int) -> int:
    """Addresses of the union of networks of an IP version."""
    if version == 4:
        v4 = [network for network in networks if isinstance(network, ipaddress.IPv4Network)]
        return sum(network.num_addresses for network in ipaddress.collapse_addresses(v4))
    v6 = [network for network in networks if isinstance(network, ipaddress.IPv6Network)]
    return sum(network.num_addresses for network in ipaddress.collapse_addresses(v6))

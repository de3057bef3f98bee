"""What a network policy of any dialect says, in one form: whom it governs and whom it lets through."""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from policies.model.objects import Obj
from policies.model.values import UNKNOWN, Plain, items

Address: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
DIRECTIONS: Final = ("Ingress", "Egress")
# IPv4 addresses written as IPv6 ones: mapped, and translated by NAT64.
_WRAPPED: Final = tuple(map(ipaddress.IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))


@dataclass(frozen=True, slots=True)
class Peer:
    """One party a rule lets through.

    `addresses` are what remains of a block after its exceptions, None when they hang on an unknown. `unknown`:
    nothing is known of the peer.
    """

    path: str
    addresses: tuple[Address, ...] | None = ()
    world: bool = False
    every_namespace: bool | None = False
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Traffic:
    """One rule that lets traffic through. `open`: it names no peer, which means everybody; None is unknown."""

    path: str
    peers: tuple[Peer, ...] = ()
    open: bool | None = False
    every_port: bool = False
    body: Plain = None


def _none(*about: object) -> bool | None:
    del about
    return False


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy: `namespace` is None when it reaches all of them, and an empty text when that is unknown."""

    obj: Obj
    namespace: str | None
    isolates: dict[str, bool | None]
    allows: dict[str, tuple[Traffic, ...]]
    governs: Callable[[str, dict[str, Plain]], bool | None] = field(default=_none, compare=False)
    """Whether the policy selects pods with these labels in this namespace."""
    governs_all: Callable[[str], bool | None] = field(default=_none, compare=False)
    """Whether the policy selects every pod of this namespace."""

    def opens(self, direction: str) -> bool:
        """Whether some rule of a direction lets everybody through on every port."""
        return any(traffic.open and traffic.every_port for traffic in self.allows[direction])


def rules_at(body: Plain, path: str, key: str) -> Iterator[tuple[str, Plain]]:
    """Members of the list under `key` with their paths."""
    value = body.get(key) if isinstance(body, dict) else body
    return items(value, f"{path}.{key}" if path else key)


def addresses_of(cidr: Plain, excepted: list[Plain]) -> tuple[Address, ...] | None:
    """Addresses of a block without its exceptions; None when one of them is unknown; nothing for what is no block."""
    if cidr is UNKNOWN or any(member is UNKNOWN for member in excepted):
        return None
    whole = _network(cidr)
    if whole is None:
        return ()
    holes = [hole for hole in map(_network, excepted) if hole is not None]
    return tuple(_without(whole, holes))


def _network(value: Plain) -> Address | None:
    if not isinstance(value, str):
        return None
    try:
        found = ipaddress.ip_network(value.strip(), strict=False)
    except ValueError:
        return None
    for wrapped in _WRAPPED:
        if isinstance(found, ipaddress.IPv6Network) and found.subnet_of(wrapped):
            return ipaddress.IPv4Network((int(found.network_address) & 0xFFFFFFFF, found.prefixlen - 96))
    return found


def _without(network: Address, holes: list[Address]) -> list[Address]:
    rest: list[Address] = [network]
    for hole in holes:
        left: list[Address] = []
        for part in rest:
            if part.version != hole.version or not part.overlaps(hole):
                left.append(part)
            elif hole.prefixlen > part.prefixlen:
                left.extend(part.address_exclude(hole))  # type: ignore[arg-type]
        rest = left
    return rest


def wraps_all_ipv4(network: Address) -> bool:
    """Whether an IPv6 block holds every IPv4 address in one of its written forms."""
    return isinstance(network, ipaddress.IPv6Network) and any(wrapped.subnet_of(network) for wrapped in _WRAPPED)


def total(networks: list[Address], version: int) -> int:
    """Addresses of the union of networks of an IP version."""
    if version == 4:
        v4 = [network for network in networks if isinstance(network, ipaddress.IPv4Network)]
        return sum(network.num_addresses for network in ipaddress.collapse_addresses(v4))
    v6 = [network for network in networks if isinstance(network, ipaddress.IPv6Network)]
    return sum(network.num_addresses for network in ipaddress.collapse_addresses(v6))

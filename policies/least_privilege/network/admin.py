"""Policies that administrators lay over those of namespaces. They are judged for what they let through.

They count as nobody's default-deny: their denials reach pods of the cluster only, or can be passed on.
"""

from collections.abc import Iterator
from typing import Final

from policies.least_privilege.network.traffic import DIRECTIONS, Peer, Policy, Traffic, addresses_of, rules_at
from policies.model.objects import Obj
from policies.model.selectors import demands_nothing
from policies.model.values import UNKNOWN, Plain, child, items, join

_PEERS: Final = {"Ingress": "from", "Egress": "to"}


def read(obj: Obj) -> Iterator[Policy]:
    """The policy of one object."""
    spec, path = obj.body.get("spec"), join(obj.path, "spec")
    nothing: dict[str, bool | None] = dict.fromkeys(DIRECTIONS, False)
    yield Policy(obj, None, nothing, {d: tuple(_rules(spec, path, d)) for d in DIRECTIONS})


def _rules(spec: Plain, path: str, direction: str) -> Iterator[Traffic]:
    for where, rule in rules_at(spec, path, direction.lower()):
        if rule is UNKNOWN:
            yield Traffic(where, (Peer(where, None, every_namespace=None, unknown=True),), None, body=rule)
        elif isinstance(rule, dict) and rule.get("action") in ("Allow", "Accept", UNKNOWN):
            listed = rules_at(rule, where, _PEERS[direction])
            yield Traffic(where, tuple(p for place, peer in listed for p in _peers(place, peer)), body=rule)


def _peers(path: str, peer: Plain) -> Iterator[Peer]:
    if not isinstance(peer, dict):
        yield Peer(path, None, every_namespace=None, unknown=peer is UNKNOWN)
        return
    for where, network in items(peer.get("networks"), f"{path}.networks"):
        yield Peer(where, addresses_of(network, []))
    for where, name in items(peer.get("domainNames"), f"{path}.domainNames"):
        yield Peer(where, world=name == "*")
    for where, selector in ((f"{path}.namespaces", peer.get("namespaces")), (f"{path}.pods", peer.get("pods"))):
        if selector is UNKNOWN:
            yield Peer(where, every_namespace=None)
        elif isinstance(selector, dict):
            pods = child(selector, "podSelector") if where.endswith(".pods") else None
            places = selector.get("namespaceSelector") if where.endswith(".pods") else selector
            yield Peer(where, every_namespace=demands_nothing(places) and demands_nothing(pods, frozenset()))

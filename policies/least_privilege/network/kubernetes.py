"""Kubernetes' own NetworkPolicy."""

from collections.abc import Iterator
from typing import Final

from policies.least_privilege.network.traffic import DIRECTIONS, Peer, Policy, Traffic, addresses_of, rules_at
from policies.model.objects import Obj
from policies.model.selectors import demands_nothing, is_empty, matches
from policies.model.values import UNKNOWN, Plain, child, items, join

PEERS: Final = {"Ingress": "from", "Egress": "to"}


def read(obj: Obj) -> Iterator[Policy]:
    """The policy of one object."""
    spec, path = child(obj.body, "spec"), join(obj.path, "spec")
    selector = child(spec, "podSelector")
    isolates = {direction: _isolates(spec, direction) for direction in DIRECTIONS}
    yield Policy(
        obj,
        obj.namespace,
        isolates,
        # Rules of a direction that the policy does not govern are ignored.
        {
            d: tuple(_traffic(w, rule, d) for w, rule in rules_at(spec, path, d.lower()) if isolates[d] is not False)
            for d in DIRECTIONS
        },
        lambda _, labels: matches(selector, labels),
        lambda _: None if selector is UNKNOWN else is_empty(selector),
    )


def _isolates(spec: Plain, direction: str) -> bool | None:
    """Whether a direction is governed: by policyTypes, or by default as the API server fills it in."""
    types = child(spec, "policyTypes")
    if types is UNKNOWN:
        return None
    if isinstance(types, list) and types:
        if direction in [t for t in types if t is not UNKNOWN]:
            return True
        return None if any(t is UNKNOWN for t in types) else False
    if direction == "Ingress":
        return True
    egress = child(spec, "egress")
    return None if egress is UNKNOWN else bool(egress)


def _traffic(path: str, rule: Plain, direction: str) -> Traffic:
    field = PEERS[direction]
    if rule is UNKNOWN:
        return Traffic(path, (Peer(path, None, every_namespace=None, unknown=True),), None, body=rule)
    if not isinstance(rule, dict):
        return Traffic(path, body=rule)
    listed = rule.get(field)
    found = tuple(_peer(where, peer, direction) for where, peer in items(listed, f"{path}.{field}"))
    if listed is UNKNOWN:
        return Traffic(path, found, None, body=rule)
    nobody = not listed or (isinstance(listed, list) and any(isinstance(p, dict) and not p for p in listed))
    return Traffic(path, found, bool(nobody), every_port=rule.get("ports") in (None, []), body=rule)


def _peer(path: str, peer: Plain, direction: str) -> Peer:
    if not isinstance(peer, dict):
        unknown = peer is UNKNOWN
        return Peer(path, None if unknown else (), every_namespace=None if unknown else False, unknown=unknown)
    block = peer.get("ipBlock")
    if block is UNKNOWN:
        return Peer(path, None)
    if isinstance(block, dict):
        excepted = block.get("except")
        addresses = addresses_of(block.get("cidr"), excepted if isinstance(excepted, list) else [excepted])
        return Peer(f"{path}.ipBlock" if addresses is not None else path, addresses)
    selector = peer.get("namespaceSelector")
    if selector is UNKNOWN:
        return Peer(path, every_namespace=None)
    every = isinstance(selector, dict) and demands_nothing(selector) and not _named_service(peer, direction)
    return Peer(path, every_namespace=every)


def _named_service(peer: dict[str, Plain], direction: str) -> bool:
    """Whether the peer is a labelled pod that clients go to, such as cluster DNS, wherever it runs."""
    pods = peer.get("podSelector")
    return direction == "Egress" and isinstance(pods, dict) and not is_empty(pods)

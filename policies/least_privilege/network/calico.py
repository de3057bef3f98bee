"""Policies of Calico, per namespace and for the whole cluster."""

import re
from collections.abc import Iterator
from typing import Final

from policies.least_privilege.network.traffic import DIRECTIONS, Peer, Policy, Traffic, addresses_of, rules_at
from policies.model.objects import Obj
from policies.model.selectors import NAME_LABEL
from policies.model.values import UNKNOWN, Plain, child, items, join

GLOBAL: Final = "GlobalNetworkPolicy"
_PARTIES: Final = {"Ingress": "source", "Egress": "destination"}
_NAMES: Final = ("projectcalico.org/name", NAME_LABEL)
_WHO: Final = ("selector", "namespaceSelector", "nets", "serviceAccounts", "services", "domains")
_ATOM: Final = re.compile(
    r"""(?P<all>all\(\))|(?P<not>!)?\s*has\(\s*(?P<has>[\w./-]{1,320})\s*\)
    |(?P<key>[\w./-]{1,320})\s*(?P<op>==|!=)\s*(?P<value>'[^']*'|"[^"]*")
    |(?P<member>[\w./-]{1,320})\s+(?P<in>in|not\s+in)\s*\{(?P<values>[^{}]*)\}""",
    re.VERBOSE,
)


def read(obj: Obj) -> Iterator[Policy]:
    """The policy of one object."""
    spec, path = obj.body.get("spec"), join(obj.path, "spec")
    if spec is not UNKNOWN and not isinstance(spec, dict):
        return
    wide = obj.kind == GLOBAL
    selector, places = child(spec, "selector"), child(spec, "namespaceSelector")
    some = child(spec, "serviceAccountSelector") not in (None, "")

    def here(namespace: str) -> bool | None:
        return selects(places, dict.fromkeys(_NAMES, namespace)) if wide else True

    def governs(namespace: str, labels: dict[str, Plain]) -> bool | None:
        return False if some else _both(here(namespace), selects(selector, labels))

    def governs_all(namespace: str) -> bool | None:
        return False if some else _both(here(namespace), _everything(selector))

    isolates = {direction: _isolates(spec, direction) for direction in DIRECTIONS}
    yield Policy(
        obj,
        None if wide else obj.namespace,
        isolates,
        {d: tuple(_rules(spec, path, d, wide=wide)) if isolates[d] is not False else () for d in DIRECTIONS},
        governs,
        governs_all,
    )


def _both(first: bool | None, second: bool | None) -> bool | None:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def _everything(selector: Plain) -> bool | None:
    if selector is UNKNOWN:
        return None
    return selector is None or (isinstance(selector, str) and selector.strip() in ("", "all()"))


def selects(selector: Plain, labels: dict[str, Plain]) -> bool | None:
    """Whether a selector of Calico's language selects labels; what is more than a chain of `&&` selects nothing."""
    whole = _everything(selector)
    if whole is not False or not isinstance(selector, str):
        return whole
    answers = [_atom(part.strip(), labels) for part in selector.split("&&")]
    if False in answers:
        return False
    return None if None in answers else True


def _atom(text: str, labels: dict[str, Plain]) -> bool | None:
    found = _ATOM.fullmatch(text)
    if found is None:
        return False
    if found["all"]:
        return True
    if found["has"]:
        return (found["has"] in labels) is not bool(found["not"])
    actual = labels.get(found["key"] or found["member"])
    if actual is UNKNOWN:
        return None
    if found["key"]:
        return (actual == found["value"][1:-1]) is (found["op"] == "==")
    values = {value.strip().strip("'\"") for value in found["values"].split(",")}
    return (actual in values) is (found["in"] == "in")


def _isolates(spec: Plain, direction: str) -> bool | None:
    types, ingress, egress = (child(spec, key) for key in ("types", "ingress", "egress"))
    if types is UNKNOWN:
        return None
    if isinstance(types, list) and types:
        return direction in [t for t in types if t is not UNKNOWN]
    if direction == "Egress":
        return None if egress is UNKNOWN else egress is not None
    return ingress is not None or egress is None


def _rules(spec: Plain, path: str, direction: str, *, wide: bool) -> Iterator[Traffic]:
    for where, rule in rules_at(spec, path, direction.lower()):
        if rule is UNKNOWN:
            yield Traffic(where, (Peer(where, None, every_namespace=None, unknown=True),), None, body=rule)
        elif isinstance(rule, dict) and rule.get("action") in ("Allow", "allow", UNKNOWN):
            yield _traffic(where, rule, direction, wide=wide)


def _traffic(path: str, rule: dict[str, Plain], direction: str, *, wide: bool) -> Traffic:
    field = _PARTIES[direction]
    party, where = rule.get(field), f"{path}.{field}"
    if party is UNKNOWN:
        return Traffic(path, (Peer(where, None, every_namespace=None, unknown=True),), None, body=rule)
    named = party if isinstance(party, dict) else {}
    nobody = not any(named.get(key) is UNKNOWN or named.get(key) for key in _WHO)
    ports = [child(rule, "destination", "ports"), rule.get("protocol")]
    every_port = all(part in (None, []) for part in ports)
    return Traffic(path, tuple(_peers(where, named, wide=wide)), nobody, every_port, rule)


def _peers(path: str, named: dict[str, Plain], *, wide: bool) -> Iterator[Peer]:
    excepted = named.get("notNets")
    holes = excepted if isinstance(excepted, list) else [excepted]
    for where, net in items(named.get("nets"), f"{path}.nets"):
        yield Peer(where, addresses_of(net, holes))
    for where, domain in items(named.get("domains"), f"{path}.domains"):
        yield Peer(where, world=domain in ("*", "*.*"))
    places, pods = named.get("namespaceSelector"), named.get("selector")
    if places is UNKNOWN:
        yield Peer(path, every_namespace=None)
    elif places is not None or (wide and pods is not None):
        anywhere = isinstance(places, str) and places.strip() in ("all()", *(f"has({name})" for name in _NAMES))
        unplaced = wide and places in (None, "") and isinstance(pods, str) and pods.strip() == "all()"
        yield Peer(path, every_namespace=anywhere or unplaced)

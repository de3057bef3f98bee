"""Policies of Cilium, per namespace and for the whole cluster."""

from collections.abc import Iterator
from typing import Final

from policies.least_privilege.network.traffic import DIRECTIONS, Peer, Policy, Traffic, addresses_of, rules_at
from policies.model.objects import Obj
from policies.model.selectors import demands_nothing, is_empty, matches
from policies.model.values import UNKNOWN, Plain, among, child, items, join

CLUSTERWIDE: Final = "CiliumClusterwideNetworkPolicy"
_NAMESPACE: Final = "io.kubernetes.pod.namespace"
_SOURCES: Final = ("k8s:", "any:", "k8s.", "any.")
_WORLDS: Final = frozenset({"all", "world", "world-ipv4", "world-ipv6"})
_STEMS: Final = {"Ingress": "from", "Egress": "to"}
_SUFFIXES: Final = ("Endpoints", "Entities", "CIDR", "CIDRSet", "Nodes", "Groups", "FQDNs", "Services", "Requires")


def read(obj: Obj) -> Iterator[Policy]:
    """Policies of one object, which holds one `spec`, several `specs`, or both."""
    places = [(join(obj.path, "spec"), obj.body.get("spec")), *rules_at(obj.body, obj.path, "specs")]
    for path, spec in places:
        if spec is UNKNOWN or isinstance(spec, dict):
            yield _policy(obj, path, spec)


def _policy(obj: Obj, path: str, spec: Plain) -> Policy:
    wide = obj.kind == CLUSTERWIDE
    selector = _plain_selector(child(spec, "endpointSelector"))
    hosts = child(spec, "nodeSelector") not in (None, UNKNOWN)

    def governs(namespace: str, labels: dict[str, Plain]) -> bool | None:
        known = {**labels, _NAMESPACE: namespace}
        return False if hosts or selector is None else matches(selector, known)

    def governs_all(namespace: str) -> bool | None:
        if hosts or selector is None:
            return False
        if selector is UNKNOWN:
            return None
        wanted = child(selector, "matchLabels")
        here = isinstance(wanted, dict) and set(wanted) == {_NAMESPACE} and not selector.get("matchExpressions")
        return is_empty(selector) or (here and wanted[_NAMESPACE] == namespace)

    return Policy(
        obj,
        None if wide else obj.namespace,
        {direction: _isolates(spec, direction) for direction in DIRECTIONS},
        {
            d: tuple(_traffic(where, rule, d, wide=wide) for where, rule in rules_at(spec, path, d.lower()))
            for d in DIRECTIONS
        },
        governs,
        governs_all,
    )


def _plain_selector(selector: Plain) -> Plain:
    """The selector with label keys as pods have them: Cilium may put their source in front."""
    if not isinstance(selector, dict):
        return selector
    found = dict(selector)
    if isinstance(selector.get("matchLabels"), dict):
        found["matchLabels"] = {_bare(key): value for key, value in selector["matchLabels"].items()}
    if isinstance(selector.get("matchExpressions"), list):
        found["matchExpressions"] = [
            {**e, "key": _bare(e["key"])} if isinstance(e, dict) and isinstance(e.get("key"), str) else e
            for e in selector["matchExpressions"]
        ]
    return found


def _bare(key: str) -> str:
    return key[4:] if key.startswith(_SOURCES) else key


def _isolates(spec: Plain, direction: str) -> bool | None:
    field = direction.lower()
    switch = child(spec, "enableDefaultDeny", field)
    if isinstance(switch, bool):
        return switch
    rules = [child(spec, field), child(spec, f"{field}Deny")]
    if any(isinstance(listed, list) and listed for listed in rules):
        return True
    return None if any(part is UNKNOWN for part in (switch, *rules)) else False


def _traffic(path: str, rule: Plain, direction: str, *, wide: bool) -> Traffic:
    if rule is UNKNOWN:
        return Traffic(path, (Peer(path, None, every_namespace=None, unknown=True),), None, body=rule)
    if not isinstance(rule, dict):
        return Traffic(path, body=rule)
    stem = _STEMS[direction]
    fields = {suffix: rule.get(f"{stem}{suffix}") for suffix in _SUFFIXES}
    peers = tuple(_peers(path, stem, fields, wide=wide))
    # A rule without any field lets nobody through; one with ports alone lets everybody through on them.
    ports = any(rule.get(key) not in (None, []) for key in ("toPorts", "icmps"))
    return Traffic(path, peers, ports and all(value is None for value in fields.values()), body=rule)


def _peers(path: str, stem: str, fields: dict[str, Plain], *, wide: bool) -> Iterator[Peer]:
    for where, member in items(fields["Endpoints"], f"{path}.{stem}Endpoints"):
        if member is UNKNOWN:
            yield Peer(where, every_namespace=None)
        elif isinstance(member, dict):
            yield _endpoints(where, _plain_selector(member), wide=wide)
    for where, member in items(fields["Entities"], f"{path}.{stem}Entities"):
        if member is UNKNOWN:
            yield Peer(where, None)
        else:
            yield Peer(where, world=among(member, _WORLDS), every_namespace=member == "cluster")
    for where, member in items(fields["CIDR"], f"{path}.{stem}CIDR"):
        yield Peer(where, addresses_of(member, []))
    for where, member in items(fields["CIDRSet"], f"{path}.{stem}CIDRSet"):
        excepted = child(member, "except")
        yield Peer(where, addresses_of(child(member, "cidr"), excepted if isinstance(excepted, list) else [excepted]))
    for where, member in items(fields["FQDNs"], f"{path}.{stem}FQDNs"):
        pattern = child(member, "matchPattern")
        # `*` alone, or with nothing but the name of a registry behind it, is the whole of the internet.
        yield Peer(where, world=isinstance(pattern, str) and "*" in pattern and _literal_words(pattern) < 2)


def _endpoints(path: str, selector: dict[str, Plain], *, wide: bool) -> Peer:
    labels = selector.get("matchLabels")
    names = set(labels) if isinstance(labels, dict) else set()
    world = bool(names & {"reserved:world", "reserved:all"})
    expressions = [e for _, e in items(selector.get("matchExpressions"), "") if isinstance(e, dict)]
    placed = [e for e in expressions if e.get("key") == _NAMESPACE]
    crosses = wide or bool(placed)
    every = crosses and demands_nothing(selector, frozenset({_NAMESPACE}))
    return Peer(path, world=world, every_namespace=every)


def _literal_words(pattern: str) -> int:
    return sum(1 for word in pattern.strip(".").split(".") if word.strip("*"))

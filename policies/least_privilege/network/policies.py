"""NetworkPolicies of a program: which pods they select and what they still let through."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from policies.model.objects import Obj
from policies.model.resource import Resource, Stack
from policies.model.values import UNKNOWN, Plain, child, items, join

GROUPS: Final = ("networking.k8s.io", "extensions")
DIRECTIONS: Final = ("Ingress", "Egress")
_PEERS: Final = {"Ingress": "from", "Egress": "to"}


@dataclass(frozen=True, slots=True)
class NetPolicy:
    """One NetworkPolicy."""

    obj: Obj

    def isolates(self, direction: str) -> bool | None:
        """Whether the policy governs a direction: by policyTypes, or by default as the API server fills it in."""
        types = child(self.obj.body, "spec", "policyTypes")
        if types is UNKNOWN:
            return None
        if isinstance(types, list) and types:
            if direction in [t for t in types if t is not UNKNOWN]:
                return True
            return None if any(t is UNKNOWN for t in types) else False
        if direction == "Ingress":
            return True
        egress = child(self.obj.body, "spec", "egress")
        return None if egress is UNKNOWN else bool(egress)

    def rules(self, direction: str) -> Iterator[tuple[str, Plain]]:
        """Rules of a direction with their paths."""
        field = direction.lower()
        return items(child(self.obj.body, "spec", field), join(self.obj.path, f"spec.{field}"))

    def opens(self, direction: str) -> bool:
        """Whether some rule of a direction lets everybody through on every port."""
        return any(
            is_open(rule, direction) and not rule.get("ports") for _, rule in self.rules(direction) if _dict(rule)
        )

    def selects_all(self) -> bool | None:
        """Whether the policy selects every pod of its namespace."""
        selector = child(self.obj.body, "spec", "podSelector")
        if selector is UNKNOWN:
            return None
        return is_empty(selector)

    def selects(self, labels: dict[str, Plain]) -> bool | None:
        """Whether the policy selects pods with `labels`."""
        selector = child(self.obj.body, "spec", "podSelector")
        return matches(selector, labels)


def _dict(value: Plain) -> bool:
    return isinstance(value, dict)


def is_open(rule: Plain, direction: str) -> bool:
    """Whether a rule names no peer at all, which means everybody."""
    if not isinstance(rule, dict):
        return False
    peers = rule.get(_PEERS[direction])
    if peers is None or peers == []:
        return True
    return isinstance(peers, list) and any(isinstance(peer, dict) and not peer for peer in peers)


def is_empty(selector: Plain) -> bool:
    """Whether a label selector selects everything."""
    if selector is None:
        return True
    return (
        isinstance(selector, dict)
        and not any(value for value in selector.values() if value is not UNKNOWN)
        and all(value is not UNKNOWN for value in selector.values())
    )


def matches(selector: Plain, labels: dict[str, Plain]) -> bool | None:
    """Whether a label selector selects `labels`; None when that hangs on an unknown."""
    if selector is UNKNOWN:
        return None
    if is_empty(selector):
        return True
    if not isinstance(selector, dict):
        return False
    answers: list[bool | None] = []
    wanted = selector.get("matchLabels")
    if wanted is UNKNOWN:
        answers.append(None)
    elif isinstance(wanted, dict):
        answers += [_same(labels.get(key), value) for key, value in wanted.items()]
    for _, expression in items(selector.get("matchExpressions"), ""):
        answers.append(_expression(expression, labels))
    if False in answers:
        return False
    return None if None in answers else True


def _same(actual: Plain, wanted: Plain) -> bool | None:
    if actual is UNKNOWN or wanted is UNKNOWN:
        return None
    return bool(actual == wanted)


def _expression(expression: Plain, labels: dict[str, Plain]) -> bool | None:
    if not isinstance(expression, dict):
        return None
    key, operator = expression.get("key"), expression.get("operator")
    values = expression.get("values") or [] if expression.get("values") is not UNKNOWN else UNKNOWN
    if any(part is UNKNOWN for part in (key, operator, values)) or not isinstance(key, str):
        return None
    actual = labels.get(key)
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    if actual is UNKNOWN or any(value is UNKNOWN for value in values):
        return None
    inside = actual in values
    return inside if operator == "In" else not inside


@dataclass(frozen=True)
class Network:
    """Policies of a program by namespace; `unplaced` are those whose namespace is unknown."""

    by_namespace: dict[str, list[NetPolicy]]
    unplaced: bool

    def denies(self, namespace: str, direction: str) -> bool | None:
        """Whether a namespace denies a direction by default; None when an unknown may still make it so."""
        answer: bool | None = None if self.unplaced else False
        for policy in self.by_namespace.get(namespace, []):
            parts = (policy.selects_all(), policy.isolates(direction))
            if False in parts or policy.opens(direction):
                continue
            if None in parts:
                answer = None
            else:
                return True
        return answer

    def covers(self, namespace: str, labels: dict[str, Plain], direction: str) -> bool | None:
        """Whether pods with `labels` are governed in a direction."""
        answer: bool | None = None if self.unplaced else False
        for policy in self.by_namespace.get(namespace, []):
            parts = (policy.selects(labels), policy.isolates(direction))
            if False in parts or policy.opens(direction):
                continue
            if None in parts:
                answer = None
            else:
                return True
        return answer


def network_of(stack: Stack) -> Network:
    """Network of a program, built once a run."""
    found: Network | None = stack.cache.get("network")
    if found is None:
        placed: dict[str, list[NetPolicy]] = {}
        unplaced = False
        for _, obj in stack.objects:
            if obj.is_a("NetworkPolicy", *GROUPS):
                if obj.namespace:
                    placed.setdefault(obj.namespace, []).append(NetPolicy(obj))
                else:
                    unplaced = True
        found = stack.cache["network"] = Network(placed, unplaced)
    return found


def policies_of(resource: Resource) -> Iterator[NetPolicy]:
    """NetworkPolicies in one resource."""
    return (NetPolicy(obj) for obj in resource.objects if obj.is_a("NetworkPolicy", *GROUPS))

"""Label selectors, and whether they select given labels."""

from typing import Final

from policies.model.values import UNKNOWN, Plain, among, items

# The API server puts this label on every namespace.
NAME_LABEL: Final = "kubernetes.io/metadata.name"


def is_empty(selector: Plain) -> bool:
    """Whether a label selector selects everything."""
    if selector is None:
        return True
    return (
        isinstance(selector, dict)
        and not any(value for value in selector.values() if value is not UNKNOWN)
        and all(value is not UNKNOWN for value in selector.values())
    )


def demands_nothing(selector: Plain, always: frozenset[str] = frozenset({NAME_LABEL})) -> bool:
    """Whether a selector names nothing that must be there: it is empty, or only leaves some labels out.

    `always` are labels that every object of the kind has, so that asking for their existence asks for nothing.
    """
    if is_empty(selector):
        return True
    if not isinstance(selector, dict) or selector.get("matchLabels") not in (None, {}):
        return False
    for _, expression in items(selector.get("matchExpressions"), ""):
        if not isinstance(expression, dict):
            return False
        operator, key = expression.get("operator"), expression.get("key")
        if operator not in ("NotIn", "DoesNotExist") and not (operator == "Exists" and among(key, always)):
            return False
    return True


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
    values = [value for _, value in items(expression.get("values"), "")]
    if any(part is UNKNOWN for part in (key, operator)) or not isinstance(key, str):
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

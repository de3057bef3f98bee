"""Pure functions over a node's taints: one is changed, all others keep content and order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

OWNERS_ANNOTATION: Final = "lantau.internal/taints"
"""On each node: which taints are ours, as JSON of `key:effect` to `<stack>/<holder>`, written in the same request."""
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")

RawTaint = Mapping[str, Any]


@dataclass(frozen=True)
class Taint:
    """A taint; key and effect together are unique on a node."""

    key: str
    value: str
    effect: str

    @property
    def slot(self) -> str:
        """`key:effect`, what can exist once on a node."""
        return f"{self.key}:{self.effect}"

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"


def find(taints: Sequence[RawTaint], taint: Taint) -> RawTaint | None:
    """The taint in the same slot, whatever its value."""
    return next((item for item in taints if item.get("key") == taint.key and item.get("effect") == taint.effect), None)


def put(taints: Sequence[RawTaint], taint: Taint) -> list[RawTaint]:
    """With the taint in its slot: in place when the slot is taken, otherwise at the end."""
    wanted: RawTaint = {"key": taint.key, "value": taint.value, "effect": taint.effect}
    old = find(taints, taint)
    return [*taints, wanted] if old is None else [wanted if item is old else item for item in taints]


def without(taints: Sequence[RawTaint], taint: Taint) -> list[RawTaint]:
    """Without whatever is in the taint's slot."""
    old = find(taints, taint)
    return [item for item in taints if item is not old]


def owners(annotations: Mapping[str, str] | None) -> dict[str, str]:
    """Slot to `<stack>/<holder>`. An annotation that somebody damaged counts as none: then nothing is ours."""
    try:
        found = json.loads((annotations or {}).get(OWNERS_ANNOTATION) or "{}")
    except ValueError:
        return {}
    return {str(slot): str(owner) for slot, owner in found.items()} if isinstance(found, dict) else {}


def owners_text(found: Mapping[str, str]) -> str | None:
    """Value of the annotation; None when nothing is left to say."""
    return json.dumps(found, sort_keys=True, separators=(",", ":")) if found else None

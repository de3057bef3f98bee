"""What a stage demands, as data: an id, a reason and a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lantau.modelling import RuleViolation

if TYPE_CHECKING:
    from lantau.release import Release
    from lantau.stack.model import Stack

EVERY: Final = frozenset({"test", "gray", "production", "growth"})
LIVE: Final = frozenset({"production", "growth"})
FROM_GRAY: Final = EVERY - {"test"}

Releases = Mapping[tuple[str, str], "Release"]
"""Releases by (model, release)."""


@dataclass(frozen=True)
class Rule:
    """One demand on a stack."""

    id: str
    """Requirement and subject, such as `E4-two-nodes`."""
    stages: frozenset[str]
    """Stages that it holds in."""
    demand: str
    """What must be so."""
    reason: str
    """Why, for the person who is refused."""
    check: Callable[[Stack], Iterable[RuleViolation]]
    """Violations with paths relative to the stack. The pools that the stack names exist."""

    @property
    def requirement(self) -> str:
        """Row of the requirements that it comes from."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class ReleaseRule:
    """One demand on a stack together with the releases that it points to."""

    id: str
    stages: frozenset[str]
    demand: str
    reason: str
    check: Callable[[Stack, Releases], Iterable[RuleViolation]]

    @property
    def requirement(self) -> str:
        """Row of the requirements that it comes from."""
        return self.id.partition("-")[0]

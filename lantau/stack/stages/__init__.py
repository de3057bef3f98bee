"""What each stage demands of a stack, as named rules (requirements E1 to E5, E10, F2, B4, B6, C1, C2, A6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from lantau.modelling import RuleViolation
from lantau.stack.stages import availability, data, models, opening, people, separation
from lantau.stack.stages.rule import ReleaseRule, Releases, Rule

if TYPE_CHECKING:
    from lantau.stack.model import Stack

__all__ = ["RELEASE_RULES", "RULES", "ReleaseRule", "Rule", "every_rule", "release_violations", "stack_violations"]

RULES: Final = (*separation.RULES, *availability.RULES, *data.RULES, *people.RULES, *opening.RULES, *models.RULES)
"""Rules on the stack alone."""
RELEASE_RULES: Final = (*availability.RELEASE_RULES, *opening.RELEASE_RULES, *models.RELEASE_RULES)
"""Rules on the stack with its releases."""


def every_rule() -> dict[str, Rule | ReleaseRule]:
    """All rules by id, sorted by id."""
    rules: tuple[Rule | ReleaseRule, ...] = (*RULES, *RELEASE_RULES)
    return {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}


def stack_violations(stack: Stack) -> Iterator[RuleViolation]:
    """What the stack's stage demands and the stack lacks. The pools that it names must exist."""
    for rule in RULES:
        if stack.stage.value in rule.stages:
            yield from _named(rule.id, rule.check(stack))


def release_violations(stack: Stack, releases: Releases) -> Iterator[RuleViolation]:
    """The same for the rules that read releases too."""
    for rule in RELEASE_RULES:
        if stack.stage.value in rule.stages:
            yield from _named(rule.id, rule.check(stack, releases))


def _named(rule: str, violations: Iterable[RuleViolation]) -> Iterator[RuleViolation]:
    for violation in violations:
        yield RuleViolation(violation.path, f"{violation} [{rule}]", fix=violation.fix)

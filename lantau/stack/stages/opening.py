"""E3, F2: who is let in at which stage, and how many at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lantau.modelling import RuleViolation
from lantau.stack.rollout import Step
from lantau.stack.stages.rule import LIVE, ReleaseRule, Releases, Rule

if TYPE_CHECKING:
    from lantau.stack.model import Stack

GRAY_USERS: Final = 5
"""Fewest people who use gray at the same time; founding document S2, section 5, says 5 to 20."""


def _internal_first(stack: Stack) -> Iterator[RuleViolation]:
    rollout = stack.rollout
    if rollout is None:
        yield RuleViolation(
            ("rollout",),
            "gray lets internal users in first (E3), and without a rollout everybody is let in",
            fix="rollout: {step: internal, since: <today>, audiences: {internal: [<client>]}}",
        )
    elif not Step.PARTIAL.reaches(rollout.step):
        yield RuleViolation(
            ("rollout", "step"),
            f"gray is for the team, for internal users and for a part of the public (E3), not for {rollout.step}",
            fix="step: partial   # or stage: production",
        )


def _audiences(stack: Stack) -> Iterator[RuleViolation]:
    rollout = stack.rollout
    if rollout is None:
        yield RuleViolation(
            ("rollout",),
            f"{stack.stage} says who is let in yet (F2)",
            fix="rollout: {step: everyone, since: <today>, audiences: {team: [<client>], internal: [<client>]}}",
        )
        return
    for audience, clients in (("team", rollout.audiences.team), ("internal", rollout.audiences.internal)):
        if not clients:
            yield RuleViolation(
                ("rollout", "audiences", audience),
                f"{stack.stage} splits its clients by audience (F2), and {audience} has none: a new step, or a step "
                "back, would reach nobody but the public",
                fix=f"audiences: {{{audience}: [<client>]}}",
            )


def _grown(stack: Stack) -> Iterator[RuleViolation]:
    if stack.rollout and not stack.rollout.step.reaches(Step.EVERYONE):
        yield RuleViolation(
            ("rollout", "step"),
            f"growth comes after everyone was let in (F2), and this is {stack.rollout.step}",
            fix="step: growth   # or stage: production",
        )


def _concurrency(stack: Stack, releases: Releases) -> Iterator[RuleViolation]:
    for name, model in stack.models.items():
        places = model.replicas * releases[name, model.stable].requests_at_once
        if places < GRAY_USERS:
            yield RuleViolation(
                ("models", name, "stable"),
                f"gray meets real concurrency (E3), {GRAY_USERS} users or more at once, and {model.stable} takes "
                f"{places} requests at once",
                fix=f"max_num_seqs: {GRAY_USERS}   # in a new release, named here; or more replicas",
            )


RULES = (
    Rule(
        "E3-internal-first",
        frozenset({"gray"}),
        "A roll-out is at step team, internal or partial.",
        "Faults of interface, queue and line are to meet colleagues before they meet the public.",
        _internal_first,
    ),
    Rule(
        "F2-audiences",
        LIVE,
        "A roll-out names the clients of the team and the internal ones.",
        "Each new version goes the same way: team, internal users, a part of the public, everyone.",
        _audiences,
    ),
    Rule(
        "F2-grown",
        frozenset({"growth"}),
        "The roll-out is at step everyone or growth.",
        "Machines are added by what was measured with everyone inside, not before.",
        _grown,
    ),
)
RELEASE_RULES = (
    ReleaseRule(
        "E3-concurrency",
        frozenset({"gray"}),
        f"The stable release of each model takes {GRAY_USERS} requests or more at once.",
        "A model that serves one request after the other hides every fault that queues and streams have.",
        _concurrency,
    ),
)

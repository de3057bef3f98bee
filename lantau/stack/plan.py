"""The weeks of going live (founding document S2, section 11): who is let in, how far, and what must hold first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from lantau.stack.rollout import Rollout, Step

if TYPE_CHECKING:
    from lantau.stack.model import Stack

SHORTEST_DAYS: Final = 7
"""Days that a step lasts at least: a week has every hour of the day and both kinds of days in it."""


@dataclass(frozen=True, slots=True)
class Week:
    """One step of the plan."""

    step: Step
    week: str
    audience: str
    share: str
    """How much of its rate a client gets."""
    holds: tuple[str, ...]
    """What must hold before the step that follows."""


_PLAN: Final = (
    Week(
        Step.TEAM,
        "week 1",
        "the team that builds it",
        "all of its rate",
        (
            "The model's answers are what the business wants, and memory and rates are written down.",
            "lantau fit --stack agrees with what the engine logged within a tenth.",
        ),
    ),
    Week(
        Step.INTERNAL,
        "week 2",
        "colleagues, and the few customers who test",
        "all of its rate",
        (
            "Queueing, streaming and time-outs were seen with 5 to 20 people at once.",
            "API keys, rate limits and the log with trace ids work.",
            "The line was measured from the users' cities, also in the evening.",
        ),
    ),
    Week(
        Step.PARTIAL,
        "week 3",
        "the public, with 5 to 10 % of its rate",
        "rollout.share percent of its rate",
        (
            "P95, error rate and cards were watched for a week, and stayed where they were in week 2.",
            "A rollback was practised and took minutes.",
        ),
    ),
    Week(
        Step.EVERYONE,
        "week 4",
        "everyone",
        "all of its rate",
        (
            "A spare machine stands ready, and the loss of one was practised.",
            "lantau diagnose finds nothing short at the evening's peak.",
        ),
    ),
    Week(
        Step.GROWTH,
        "week 5 and later",
        "everyone",
        "all of its rate",
        ("Machines follow what lantau diagnose finds, and nothing else.",),
    ),
)
PLAN: Final[Mapping[Step, Week]] = MappingProxyType({week.step: week for week in _PLAN})
"""Every step with its week, in order."""


def following(step: Step) -> Step | None:
    """The step after `step`; None after the last."""
    steps = list(Step)
    place = steps.index(step) + 1
    return steps[place] if place < len(steps) else None


def earliest_next(rollout: Rollout) -> date:
    """First day on which the next step may begin."""
    return rollout.since + timedelta(days=SHORTEST_DAYS)


def let_in(stack: Stack) -> Iterator[tuple[str, str, int]]:
    """(client, audience, requests a second) of each client of a stack; 0 for one that is not let in yet."""
    rollout = stack.rollout
    for client in sorted(stack.business.clients):
        audience = "public"
        if rollout and client in rollout.audiences.team:
            audience = "team"
        elif rollout and client in rollout.audiences.internal:
            audience = "internal"
        reached = client in stack.clients_let_in
        yield client, audience, stack.requests_per_second(client) if reached else 0

"""Who is let in yet: the weeks of going live (founding document S2, section 11)."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, PlainSerializer, model_validator

from lantau.modelling import Frozen, Name, RuleViolation
from lantau.problems import bare


class Step(StrEnum):
    """How far the platform is opened; each step keeps what the steps before it let in."""

    TEAM = "team"
    INTERNAL = "internal"
    PARTIAL = "partial"
    EVERYONE = "everyone"
    GROWTH = "growth"

    def reaches(self, other: Step) -> bool:
        """Whether this step is `other` or comes after it."""
        steps = list(Step)
        return steps.index(self) >= steps.index(other)


Clients = Annotated[tuple[Name, ...], Field(max_length=40, examples=["[web]"])]


class Audiences(Frozen):
    """Clients that are let in before the public. Every client that is not named here is public."""

    team: Clients = ()
    """Clients of the team that builds the platform."""
    internal: Clients = ()
    """Clients of colleagues, and of the few customers who test."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if both := sorted(set(self.team) & set(self.internal)):
            raise RuleViolation(
                ("internal",), f"{', '.join(map(bare, both))}: already in team; a client is in one audience only"
            )
        return self


class Rollout(Frozen):
    """The step of the roll-out that the stack is at. Without it every client is let in."""

    step: Step = Field(examples=["internal"])
    """team (week 1), internal (week 2), partial (week 3), everyone (week 4) or growth (week 5 and later)."""
    since: Annotated[date, PlainSerializer(date.isoformat, return_type=str)] = Field(examples=['"2026-11-30"'])
    """Day on which the step began."""
    share: int = Field(default=10, ge=1, le=50, examples=[10])
    """At step partial: share of `requests_per_second` that each public client gets, percent; S2 says 5 to 10."""
    audiences: Audiences = Audiences()
    """Clients that are let in before the public."""

    def reached(self, client: str) -> bool:
        """Whether a client is let in at this step."""
        if client in self.audiences.team:
            return True
        if client in self.audiences.internal:
            return self.step.reaches(Step.INTERNAL)
        return self.step.reaches(Step.PARTIAL)

    def public(self, client: str) -> bool:
        """Whether a client belongs to no audience that is let in early."""
        return client not in self.audiences.team and client not in self.audiences.internal

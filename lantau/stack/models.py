"""Models that the platform serves: which releases run, and who gets which share of the requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from lantau.modelling import DNS_LABEL, Frozen, RuleViolation
from lantau.problems import shown

ReleaseName = Annotated[
    str,
    StringConstraints(pattern=DNS_LABEL.replace("^[a-z]", "^[a-z0-9]"), max_length=40),
    Field(examples=["qwen3-8b-r1"]),
]


class Canary(Frozen):
    """A new release that takes a small share of the requests."""

    release: ReleaseName
    """Name of the release file, without its folder and ending."""
    weight: int = Field(default=5, ge=1, le=50)
    """Share of the requests in percent; stable gets the rest."""
    replicas: int = Field(default=1, ge=1, le=64)
    """Pods of the canary."""


class ServedModel(Frozen):
    """One model as its callers know it, and the releases behind it.

    Every release runs with its own pods; canary, promotion and rollback only move pointers and weights.
    """

    pool: str = Field(examples=["online-a100"])
    """Online pool whose cards the model uses."""
    replicas: int = Field(default=2, ge=1, le=64)
    """Pods of the stable release, and of the previous one while it is kept warm."""
    stable: ReleaseName
    """Release that answers by default."""
    canary: Canary | None = None
    """Release on trial."""
    previous: ReleaseName | None = None
    """Release that ran before, kept warm so that a rollback only moves weights."""
    first: bool = False
    """Whether no release ran before `stable`, so that none can be kept warm; away with the first promotion."""
    overflow: str | None = Field(default=None, examples=["offline-4090"])
    """Offline pool, shared with online, that pods may use when the online pool is full."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if self.canary and self.canary.release == self.stable:
            raise RuleViolation(
                ("canary", "release"),
                f"{shown(self.stable)} is already the stable release",
                fix="canary: {release: <another release>, weight: 5}   # or leave canary out",
            )
        if self.previous == self.stable:
            raise RuleViolation(
                ("previous",), f"{shown(self.stable)} is the stable release; previous is the one before it"
            )
        if self.first and self.previous:
            raise RuleViolation(
                ("first",), f"{shown(self.previous)} ran before: this is not the first", fix="first: false"
            )
        if self.canary and self.canary.release == self.previous:
            raise RuleViolation(
                ("canary", "release"), f"{shown(self.previous)} is kept warm as previous; promote it by stable instead"
            )
        return self

    def pointers(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Each running release with the path of the key that names it: stable, canary, previous."""
        yield ("stable",), self.stable
        if self.canary:
            yield ("canary", "release"), self.canary.release
        if self.previous:
            yield ("previous",), self.previous

    def replicas_by_release(self) -> Iterator[tuple[str, int]]:
        """Each running release with its number of pods: stable, canary, previous."""
        yield self.stable, self.replicas
        if self.canary:
            yield self.canary.release, self.canary.replicas
        if self.previous:
            yield self.previous, self.replicas

    def weights(self) -> dict[str, int]:
        """Share of the requests per release in percent; a warm previous release has 0."""
        share = self.canary.weight if self.canary else 0
        weights = {self.stable: 100 - share}
        if self.canary:
            weights[self.canary.release] = share
        if self.previous:
            weights[self.previous] = 0
        return weights

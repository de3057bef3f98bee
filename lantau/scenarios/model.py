"""The scenarios as data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml  # type: ignore[import-untyped]
from pydantic import Field

from lantau.modelling import Frozen
from lantau.stack.model import ScenarioName, Stage
from lantau.stack.network import Network
from lantau.stack.pools import Role


class PoolStart(Frozen):
    """Machines of one pool."""

    role: Role
    machine: str
    nodes: int = Field(ge=1)
    """Number of machines."""


class ModelStart(Frozen):
    """A model of a stage."""

    release: str
    """Key of the releases of this file."""
    pool: str
    replicas: int = Field(ge=1)


class BatchStart(Frozen):
    """Batch work of a stage."""

    pool: str
    parallelism: int = Field(ge=1)
    completions: int = Field(ge=1)


class StageStart(Frozen):
    """One scenario at one stage."""

    why: str
    """Reason for these machines."""
    pools: dict[str, PoolStart]
    models: dict[str, ModelStart]
    batch: dict[str, BatchStart] = Field(default_factory=dict)


class TypicalLoad(Frozen):
    """What users of a scenario ask for at its peak; assumptions to be replaced by what is measured."""

    model: str
    share_at_peak: float = Field(gt=0, le=1)
    """Share of all users who are at work at the same time at the peak."""
    seconds_between: float = Field(gt=0)
    """Time between two requests of one of them, s."""
    input_tokens: int = Field(ge=1)
    output_tokens: int = Field(ge=1)

    def requests_per_second(self, users: int) -> float:
        """Requests a second of so many users at the peak."""
        return users * self.share_at_peak / self.seconds_between


class Scenario(Frozen):
    """One business on its way from test to growth."""

    title: str
    about: str
    network: Network
    vector_gib: int = Field(ge=1)
    """Volume of a vector-store peer, GiB."""
    load: TypicalLoad
    stages: dict[Stage, StageStart]


class ReleaseStart(Frozen):
    """A release that scenarios start with."""

    model: str
    engine: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    workflow: dict[str, Any] = Field(default_factory=dict)
    memory_gib: int
    """Main memory of a pod, GiB."""
    limits: dict[str, Any]


class StageText(Frozen):
    """What a stage is for."""

    goal: str
    before_next: tuple[str, ...]
    """What must hold before the next stage."""


class Starts(Frozen):
    """The whole file."""

    stages: dict[Stage, StageText]
    releases: dict[str, ReleaseStart]
    scenarios: dict[ScenarioName, Scenario]


@cache
def starts() -> Starts:
    """The file's content."""
    text = resources.files(__package__).joinpath("scenarios.yaml").read_text(encoding="utf-8")
    return Starts.model_validate(yaml.load(text, Loader=yaml.CSafeLoader))


def scenarios() -> Mapping[ScenarioName, Scenario]:
    """Every scenario by its name."""
    return starts().scenarios

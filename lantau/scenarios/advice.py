"""The way of a business from its test machine to growth, sized for its users."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lantau.capacity.cases import UNKNOWNS, Case, question
from lantau.capacity.fit import Fit, Verdict
from lantau.capacity.service import UnservableError, device_of, sized
from lantau.capacity.sizing import Load, Prices, Size
from lantau.catalog.machines import machines
from lantau.scenarios.model import ModelStart, PoolStart, Scenario, StageStart, starts
from lantau.scenarios.writing import ENGINES
from lantau.stack.model import ScenarioName, Stage
from lantau.stack.pools import Role


@dataclass(frozen=True, slots=True)
class PoolAdvice:
    """Machines of one pool."""

    pool: str
    role: Role
    machine: str
    nodes: int
    start: int
    """Nodes of the scenario's start, before users were counted."""

    @property
    def cards(self) -> int:
        """Cards of the pool."""
        return machines()[self.machine].cards * self.nodes


@dataclass(frozen=True, slots=True)
class ModelAdvice:
    """One model of a stage on its cards."""

    model: str
    published: str
    pool: str
    card: str
    replicas: int
    verdict: Verdict
    reason: str
    size: Size | None
    """What the load asks for; None for models that no load is stated for, and where it cannot be told."""


@dataclass(frozen=True, slots=True)
class StageAdvice:
    """One stage of the way."""

    stage: Stage
    goal: str
    why: str
    pools: tuple[PoolAdvice, ...]
    models: tuple[ModelAdvice, ...]
    watts: float
    """All machines with their cards at their limits, W: what the racks must be able to give."""
    before_next: tuple[str, ...]


def load_of(scenario: Scenario, users: int) -> Load:
    """The load of `users` at the peak."""
    of = scenario.load
    return Load(of.requests_per_second(users), of.input_tokens, of.output_tokens)


def way(
    name: ScenarioName, users: int, *, published: str | None = None, prices: Prices | None = None
) -> Iterator[StageAdvice]:
    """Every stage of a scenario for `users`. `published`: another model than the scenario's own for its main work.

    Raises one of UNKNOWNS for a model that is not known.
    """
    scenario = starts().scenarios[name]
    load = load_of(scenario, users)
    for stage in Stage:
        start = scenario.stages[stage]
        # Test and gray carry no more than a few colleagues, whom the start's machines serve.
        wanted = load if stage.live else None
        models = tuple(
            _model(model, of, start, scenario, wanted if model == scenario.load.model else None, published, prices)
            for model, of in start.models.items()
        )
        pools = tuple(_pool(pool, of, models, stage) for pool, of in start.pools.items())
        text = starts().stages[stage]
        yield StageAdvice(stage, text.goal, start.why, pools, models, _watts(pools), text.before_next)


def _model(
    model: str,
    of: ModelStart,
    start: StageStart,
    scenario: Scenario,
    load: Load | None,
    published: str | None,
    prices: Prices | None,
) -> ModelAdvice:
    release = starts().releases[of.release]
    card = machines()[start.pools[of.pool].machine].card or ""
    name = published if published and model == scenario.load.model else release.model
    if release.workflow:
        told = f"measure it: {release.workflow['memory_gib']} GiB are assumed for its workflow"
        return ModelAdvice(model, name, of.pool, card, of.replicas, Verdict.FITS, told, None)
    case = Case.model_validate(
        {
            "id": model,
            "model": name,
            "gpu": card,
            "engine": release.engine,
            "engine_version": ENGINES[release.engine][0],
        }
        | release.parameters
    )
    asked = question(case)
    limit = asked.model.max_positions
    if limit and asked.flags.max_model_len and limit < asked.flags.max_model_len:
        asked = replace(asked, flags=replace(asked.flags, max_model_len=limit))
    found = asked.answer()
    size: Size | None = None
    device = device_of(asked)
    if load is not None and device is not None and asked.model.generates and found.verdict is not Verdict.DOES_NOT_FIT:
        try:
            size, _ = sized(asked, device, load, prices=prices)
        except UnservableError as error:
            found = Fit(Verdict.DOES_NOT_FIT, str(error))
    replicas = max(of.replicas, size.replicas if size else 0)
    return ModelAdvice(model, name, of.pool, card, replicas, found.verdict, found.reason, size)


def _pool(pool: str, of: PoolStart, models: tuple[ModelAdvice, ...], stage: Stage) -> PoolAdvice:
    """Machines of a pool: those of the start, or as many as the replicas take with one machine down."""
    per_node = machines()[of.machine].cards
    if of.role is not Role.ONLINE or not per_node:
        return PoolAdvice(pool, of.role, of.machine, of.nodes, of.nodes)
    cards = sum(model.replicas for model in models if model.pool == pool)
    needed = math.ceil(cards / per_node) + (1 if stage.live else 0)
    return PoolAdvice(pool, of.role, of.machine, max(of.nodes, needed), of.nodes)


def _watts(pools: tuple[PoolAdvice, ...]) -> float:
    total = 0.0
    for pool in pools:
        machine = machines()[pool.machine]
        total += pool.nodes * (machine.watts + machine.cards * (machine.gpu.tdp_w if machine.gpu else 0))
    return total


__all__ = ["UNKNOWNS", "ModelAdvice", "PoolAdvice", "StageAdvice", "load_of", "way"]

"""Memory of one rank: weights, peak, what lies outside the allocator, and the cache that is left, with bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lantau.capacity.activation import GIB, Step, encoder_gib, graphs_gib, peak_gib
from lantau.capacity.engines import Engine, Share
from lantau.capacity.formats import Format
from lantau.capacity.request import CardMemory, Flags
from lantau.capacity.weights import Stage, weight_bytes
from lantau.catalog.architecture import Architecture

PIPELINE_OUTSIDE_GIB: Final = (0.0, 0.07, 0.3)
"""Memory outside the allocator when stages only pass hidden states on: low, likely, high."""
FIXED_DOUBT_GIB: Final = 0.04
PEAK_DOUBT: Final = 0.04
"""Largest relative error of the peak on the calibration cases."""
ENCODER_DOUBT: Final = 3.0
"""How many times its estimate the encoder's peak may be: no start-up log of one was at hand."""
GRAPHS_DOUBT: Final = (0.3, 1.7)
"""Shares of their estimate that CUDA graphs were seen to take or to be charged with."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Memory of one rank, GiB."""

    stage: int
    """Pipeline stage, from 0."""
    weights: float
    activation: float
    outside: float
    """Communicators, contexts and buffers outside the engine's allocator."""
    graphs: float
    """CUDA graphs, inside the share of the card or beside it according to the engine's version."""
    budget: float
    """Share of the card that the engine takes."""
    total: float
    """Memory of the card."""
    cache: float
    """What is likely left for keys and values; negative when the rest is too large already."""
    cache_low: float
    cache_high: float


def rank_of(
    model: Architecture,
    card: CardMemory,
    engine: Engine,
    flags: Flags,
    form: Format,
    element: int,
    step: Step,
    stage: Stage,
    index: int,
) -> Rank:
    """Memory of a rank of pipeline stage `index`; `element` is the bytes of an unquantised weight."""
    tensor, pipeline = flags.tensor_parallel, flags.pipeline_parallel
    absorbs = engine.kind == "vllm"
    weights = weight_bytes(model, stage, form, element, card, tensor=tensor, absorbs=absorbs) / GIB
    calm, activation, busy = (
        peak_gib(model, stage, engine, step, tensor=tensor, pipeline=pipeline, element=element, copies=copies)
        for copies in (engine.sampler_spread[0], engine.sampler_copies, engine.sampler_spread[1])
    )
    if stage.first and model.encoder:
        seen = encoder_gib(model, images=1 if flags.images is None else flags.images)
        activation = max(activation, seen)
        busy = max(busy, seen * ENCODER_DOUBT * (1 if engine.budgets_images else step.sequences))
    outside_low, outside, outside_high = engine.parallel if tensor > 1 else engine.alone
    if pipeline > 1 and tensor == 1:
        outside_low, outside, outside_high = PIPELINE_OUTSIDE_GIB
    graphs = 0.0 if engine.share is Share.DEMAND else graphs_gib(stage, card, step, eager=flags.eager)
    counted = graphs if engine.graphs_in_budget else 0.0
    utilisation = flags.utilisation or engine.utilisation
    budget = utilisation * card.gib
    doubt = weights * form.spread + FIXED_DOUBT_GIB + budget * card.spread

    def left(peak: float, outside: float, graphs: float) -> float:
        if engine.share is Share.STATIC:
            return budget - weights - outside
        if engine.share is Share.FREE:
            return utilisation * (card.gib - weights - peak - outside - graphs)
        return budget - weights - peak - outside - graphs

    return Rank(
        stage=index,
        weights=weights,
        activation=activation,
        outside=outside,
        graphs=graphs,
        budget=budget,
        total=card.gib,
        cache=left(activation, outside, counted),
        cache_low=left(busy * (1 + PEAK_DOUBT), outside_high, counted * GRAPHS_DOUBT[1]) - doubt,
        cache_high=left(calm * (1 - PEAK_DOUBT), outside_low, counted * GRAPHS_DOUBT[0]) + doubt,
    )

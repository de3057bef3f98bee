"""Bytes of the weights on each rank."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache

from lantau.capacity.formats import Format
from lantau.capacity.request import CardMemory
from lantau.catalog.architecture import Architecture, Kind, Layer

HOPPER = 9.0
PADDING_OF_VOCABULARY = 64
"""vLLM rounds the vocabulary up to a multiple of this, so that ranks get equal shares."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The layers of one pipeline stage."""

    counted: tuple[tuple[Layer, int], ...]
    """Layers that differ, each with how often it occurs."""
    first: bool
    last: bool

    @property
    def layers(self) -> int:
        """Number of layers."""
        return sum(count for _, count in self.counted)


@cache
def stages(model: Architecture, count: int) -> tuple[Stage, ...]:
    """Layers by pipeline stage, as even as can be; the later stages get the rest, but the last one."""
    base, rest = divmod(len(model.layers), count)
    sizes = [base] * count
    for step in range(rest):
        # The last stage also samples, so the engine leaves it without an extra layer while it can.
        sizes[-(step + 2) if count > 1 and step + 2 <= count else -1] += 1
    found, start = [], 0
    for index, size in enumerate(sizes):
        counted = tuple(Counter(model.layers[start : start + size]).items())
        found.append(Stage(counted, index == 0, index == count - 1))
        start += size
    return tuple(found)


def weight_bytes(
    model: Architecture, stage: Stage, form: Format, element: int, card: CardMemory, *, tensor: int, absorbs: bool
) -> float:
    """Bytes on one rank of a stage. `absorbs`: the engine keeps the latent's up-projection twice."""
    hidden = model.hidden
    total = 0.0
    for layer, times in stage.counted:
        attention, mlp = layer.attention, layer.mlp
        heads = max(1.0, attention.kv_heads / tensor) / attention.kv_heads if attention.kv_heads else 1 / tensor
        projections = attention.sharded / tensor + attention.kv_projection * heads + attention.replicated
        size = projections * _bytes(form, "attention", hidden, element)
        size += mlp.dense(hidden) / tensor * _bytes(form, "mlp", hidden, element)
        experts = mlp.experts * mlp.expert(hidden) / tensor
        size += (
            experts * _bytes(form, "experts", hidden, element) * _padding(form, hidden, mlp.expert_intermediate, card)
        )
        size += layer.small * element
        if absorbs and attention.kind is Kind.LATENT:
            size += attention.absorbed / tensor * element
        total += times * size
    table = _vocabulary(model.vocabulary) * hidden / tensor * _bytes(form, "embedding", hidden, element)
    if stage.first:
        total += table + model.positions_embedding * element
        total += model.encoder.parameters / tensor * 2 if model.encoder else 0
    if stage.last and model.generates and not (model.tied and stage.first):
        total += table
    total += hidden * element if stage.last else 0
    # The table of rotary positions, which every stage computes for the longest context.
    return total + model.max_positions * model.rotary_dim * 2


def _vocabulary(size: int) -> int:
    return math.ceil(size / PADDING_OF_VOCABULARY) * PADDING_OF_VOCABULARY


def _bytes(form: Format, part: str, hidden: int, element: int) -> float:
    if form.bytes_per_weight is None or part not in form.parts:
        return float(element)
    return form.bytes_per_weight + form.row_scale / hidden


def _padding(form: Format, hidden: int, intermediate: int, card: CardMemory) -> float:
    """Kernels of MXFP4 pad the experts: to 256 inside on Hopper and later, to 128 inside and 256 outside before."""
    if form.name != "mxfp4" or not intermediate:
        return 1.0
    if card.capability == 0 or card.capability >= HOPPER:
        return _up(intermediate, 256) / intermediate
    return _up(intermediate, 128) / intermediate * _up(hidden, 256) / hidden


def _up(size: int, multiple: int) -> int:
    return math.ceil(size / multiple) * multiple

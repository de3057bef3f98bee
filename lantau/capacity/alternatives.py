"""The smallest changes that make a model fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from lantau.capacity.engines import Engine
from lantau.capacity.fit import Fit, Verdict, fit, largest_step
from lantau.capacity.formats import format_named
from lantau.capacity.request import CardMemory, Flags
from lantau.catalog.architecture import Architecture

CONTEXT_GRAIN: Final = 256
"""Contexts are offered in steps of so many tokens."""
SHORTEST_CONTEXT: Final = 1024
"""Below it a chat model serves nobody."""
FEWEST_SEQUENCES: Final = 4
FP8_CAPABILITY: Final = 8.9
"""Lowest compute capability whose units read FP8; an A100 has none."""
WIDEST_TENSOR: Final = 8
SMALLER_FORMATS: Final = ("fp8", "awq")


@dataclass(frozen=True, slots=True)
class Alternative:
    """One change after which the model fits."""

    what: str
    """The change in words."""
    field: str
    """Field of a release that is changed, such as `parameters.max_model_len`."""
    value: int | str
    fit: Fit


def alternatives(
    model: Architecture, card: CardMemory, engine: Engine, flags: Flags, *, format_name: str | None = None
) -> list[Alternative]:
    """Changes of one thing each after which the model fits, the least painful first; empty when one change is too few.

    Each is verified by a fit of its own, so that what is offered holds within the estimator's bounds.
    """

    def judged(changed: Flags, form: str | None = format_name) -> Fit:
        return fit(model, card, engine, changed, format_name=form)

    found = (
        *_sequences(card, engine, flags, model.max_positions, judged),
        *_context(flags, model.max_positions, judged),
        *_cache(card, flags, judged),
        *_format(card, flags, format_name, model, judged),
        *_tensor(card, flags, judged),
    )
    return list(found)


Judge = Callable[..., Fit]


def _context(flags: Flags, positions: int, judged: Judge) -> Iterator[Alternative]:
    asked = flags.max_model_len or positions
    low, high = SHORTEST_CONTEXT // CONTEXT_GRAIN, min(asked, positions) // CONTEXT_GRAIN
    best: tuple[int, Fit] | None = None
    while low <= high:
        middle = (low + high) // 2
        answer = judged(replace(flags, max_model_len=middle * CONTEXT_GRAIN))
        if answer.verdict is Verdict.FITS:
            best, low = (middle * CONTEXT_GRAIN, answer), middle + 1
        else:
            high = middle - 1
    if best and best[0] < asked:
        yield Alternative(f"a context of {best[0]:,} tokens", "parameters.max_model_len", *best)


def _sequences(card: CardMemory, engine: Engine, flags: Flags, positions: int, judged: Judge) -> Iterator[Alternative]:
    sequences = largest_step(card, engine, flags, flags.max_model_len or positions).sequences // 2
    while sequences >= FEWEST_SEQUENCES:
        answer = judged(replace(flags, max_num_seqs=sequences))
        if answer.verdict is Verdict.FITS:
            yield Alternative(f"{sequences} requests in a batch", "parameters.max_num_seqs", sequences, answer)
            return
        sequences //= 2


def _cache(card: CardMemory, flags: Flags, judged: Judge) -> Iterator[Alternative]:
    if card.capability < FP8_CAPABILITY or flags.kv_dtype not in (None, "auto"):
        return
    answer = judged(replace(flags, kv_dtype="fp8"))
    if answer.verdict is Verdict.FITS:
        yield Alternative("a cache in fp8", "parameters.kv_cache_dtype", "fp8", answer)


def _format(
    card: CardMemory, flags: Flags, format_name: str | None, model: Architecture, judged: Judge
) -> Iterator[Alternative]:
    if format_named(format_name or model.quantisation).bytes_per_weight is not None:
        return
    for name in SMALLER_FORMATS:
        if name == "fp8" and card.capability < FP8_CAPABILITY:
            continue
        answer = judged(flags, name)
        if answer.verdict is Verdict.FITS:
            yield Alternative(f"weights in {name}, with an evaluation of them", "model.format", name, answer)
            return


def _tensor(card: CardMemory, flags: Flags, judged: Judge) -> Iterator[Alternative]:
    tensor = flags.tensor_parallel * 2
    while tensor <= WIDEST_TENSOR and not card.instance:
        answer = judged(replace(flags, tensor_parallel=tensor))
        if answer.verdict is Verdict.FITS:
            yield Alternative(f"{tensor} cards for each replica", "parameters.tensor_parallel_size", tensor, answer)
            return
        tensor *= 2

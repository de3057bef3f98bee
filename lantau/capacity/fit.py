"""Whether a model fits: the tokens that its cache holds on the tightest rank, and a verdict with its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lantau.capacity.activation import GIB, Step
from lantau.capacity.cache import Group, Pool, groups_of, pool_of
from lantau.capacity.engines import Engine, Share
from lantau.capacity.formats import cache_bytes, format_named
from lantau.capacity.rank import Rank, rank_of
from lantau.capacity.request import CardMemory, Flags
from lantau.capacity.startup import refusals, shortage_at_start
from lantau.capacity.weights import stages
from lantau.catalog.architecture import Architecture

LARGE_STEP: Final = Step(sequences=1024, tokens=8192)
"""vLLM's defaults on cards of 70 GiB and more."""
SMALL_STEP: Final = Step(sequences=256, tokens=2048)
"""vLLM's defaults elsewhere."""
LONGEST_WHOLE_PREFILL: Final = 32768
"""Context up to which releases before chunked prefill read a prompt in one step."""


class Verdict(StrEnum):
    """What the estimator says."""

    FITS = "fits"
    MARGINAL = "marginal"
    """The bounds hold both cases: measure before relying on it."""
    DOES_NOT_FIT = "does not fit"
    UNKNOWN = "unknown"
    """The model's memory follows no known rule: nothing is guessed."""


class Binding(StrEnum):
    """What decides against a model, or comes closest to it."""

    NONE = ""
    RULE = "rule"
    """A rule of the engine, of the model's shape or of the card."""
    MEMORY = "memory"
    """Weights and buffers leave nothing for the cache."""
    CACHE = "cache"
    """The cache holds no request of the longest context."""
    START = "start-up"
    """Memory beside the engine's share: graphs, contexts, warm-up."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The answer."""

    verdict: Verdict
    reason: str
    binding: Binding = Binding.NONE
    rank: Rank | None = None
    """The rank that has least room."""
    pool: Pool | None = None
    max_model_len: int = 0
    """Longest context asked for, tokens."""
    tokens: int | None = None
    """Tokens that the cache holds, as the engine logs them."""
    tokens_low: int | None = None
    tokens_high: int | None = None
    concurrency: float | None = None
    """Requests of the longest context at once."""
    longest: int | None = None
    """Longest context that would fit once, at most the one asked for when that fits."""


@dataclass(frozen=True, slots=True)
class _Room:
    """The tightest rank with its likely pool and the two at its bounds."""

    rank: Rank
    likely: Pool | None
    low: Pool | None
    high: Pool | None

    @property
    def order(self) -> float:
        """Sorts ranks by room."""
        return self.likely.blocks + self.rank.cache / 1e6 if self.likely and self.rank.cache > 0 else self.rank.cache


def fit(model: Architecture, card: CardMemory, engine: Engine, flags: Flags, *, format_name: str | None = None) -> Fit:
    """Judge a model on `flags.tensor_parallel × flags.pipeline_parallel` cards that are alike.

    `format_name`: number format of the weights, None for the type they are published in. Raises UnknownFormatError.
    """
    form = format_named(format_name)
    # Engines load a checkpoint of 32 bits at 16 unless they are told otherwise.
    element = 4 if flags.dtype in ("float32", "fp32", "float") else 2
    length = flags.max_model_len or model.max_positions
    broken = refusals(model, card, engine, flags, form, length)
    step = largest_step(card, engine, flags, length)
    kv_element = cache_bytes(flags.kv_dtype, element)
    rooms = []
    for index, stage in enumerate(stages(model, flags.pipeline_parallel)):
        rank = rank_of(model, card, engine, flags, form, element, step, stage, index)
        groups = groups_of(
            stage.counted if model.generates else (),
            tensor=flags.tensor_parallel,
            element=kv_element,
            latent=engine.latent_cache,
            windows=engine.window_savings,
            block=flags.block_size,
        )
        rooms.append(_room(rank, groups, step, length))
    room = min(rooms, key=lambda one: one.order)
    start = shortage_at_start(model, engine, step, room.rank)
    return _judged(room, engine, length, broken, start)


def largest_step(card: CardMemory, engine: Engine, flags: Flags, length: int) -> Step:
    """The largest step: flags where given, otherwise the engine's defaults for this card."""
    default = LARGE_STEP if engine.large_batches and card.large_batches else SMALL_STEP
    chunked = engine.chunked if flags.chunked_prefill is None else flags.chunked_prefill
    tokens = default.tokens if chunked or length > LONGEST_WHOLE_PREFILL else max(length, SMALL_STEP.tokens)
    if engine.share is Share.DEMAND:
        return Step(flags.max_num_seqs or 1, flags.max_num_batched_tokens or 1)
    return Step(flags.max_num_seqs or default.sequences, flags.max_num_batched_tokens or tokens)


def _room(rank: Rank, groups: list[Group], step: Step, length: int) -> _Room:
    low, likely, high = rank.cache_low, rank.cache, rank.cache_high
    pools = [pool_of(free * GIB, groups, length=length, batched=step.tokens) for free in (likely, low, high)]
    return _Room(rank, *pools)


def _judged(room: _Room, engine: Engine, length: int, broken: list[str], start: tuple[float, float]) -> Fit:
    rank, pool = room.rank, room.likely
    tokens, low, high = (
        one.tokens(reports_length=engine.reports_length) if one else None for one in (pool, room.low, room.high)
    )

    def answer(verdict: Verdict, reason: str, binding: Binding = Binding.NONE) -> Fit:
        return Fit(
            verdict,
            reason,
            binding,
            rank,
            pool,
            length,
            tokens,
            low,
            high,
            pool.concurrency if pool else None,
            _longest(pool),
        )

    if broken:
        return answer(Verdict.DOES_NOT_FIT, "; ".join(broken), Binding.RULE)
    if rank.cache_high <= 0:
        return answer(Verdict.DOES_NOT_FIT, _overfull(rank), Binding.MEMORY)
    if room.high is not None and room.high.concurrency < 1:
        return answer(
            Verdict.DOES_NOT_FIT,
            f"one request of {length:,} tokens needs more than the cache holds ({tokens or 0:,} tokens): "
            f"at most {_longest(room.high) or 0:,} would fit",
            Binding.CACHE,
        )
    most, least = start
    if least > 0:
        return answer(Verdict.DOES_NOT_FIT, _start(rank, least, "needs"), Binding.START)
    doubts = []
    if rank.cache_low <= 0 or (room.low is not None and room.low.concurrency < 1):
        held = f"between {low or 0:,} and {high or 0:,} tokens" if pool else f"up to {rank.cache_high:.2f} GiB"
        doubts.append((f"the cache may hold {held}, and a request has {length:,}", Binding.CACHE))
    if most > 0:
        doubts.append((_start(rank, most, "may need up to"), Binding.START))
    if doubts:
        return answer(Verdict.MARGINAL, "; ".join(reason for reason, _ in doubts), doubts[0][1])
    if pool is None:
        return answer(Verdict.FITS, f"{rank.weights:.2f} GiB of weights in {rank.budget:.2f} GiB; it keeps no cache")
    return answer(
        Verdict.FITS,
        f"{rank.cache:.1f} GiB are left for the cache: {tokens:,} tokens, "
        f"{pool.concurrency:.1f} requests of {length:,}",
    )


def _overfull(rank: Rank) -> str:
    return (
        f"{rank.weights:.2f} GiB of weights, {rank.activation:.2f} GiB of activations and {rank.outside:.2f} GiB "
        f"outside the allocator exceed the {rank.budget:.2f} GiB that the engine takes by {-rank.cache:.2f} GiB"
    )


def _start(rank: Rank, lacking: float, verb: str) -> str:
    return (
        f"start-up {verb} {lacking:.1f} GiB more than the card has beside the {rank.budget:.1f} GiB that the engine "
        f"takes: lower gpu_memory_utilization or max_num_seqs"
    )


def _longest(pool: Pool | None) -> int | None:
    if pool is None:
        return None
    if pool.groups == 1:
        return pool.blocks * pool.block
    return math.floor(pool.concurrency * pool.length) if pool.concurrency < 1 else pool.length

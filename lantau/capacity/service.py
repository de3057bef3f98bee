"""How fast one replica serves, and how many replicas a load needs, for a question to the estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from lantau.capacity.cases import Question
from lantau.capacity.fit import Verdict
from lantau.capacity.formats import format_named
from lantau.capacity.sizing import CACHE_MARGIN, Load, Prices, Size, size
from lantau.capacity.throughput import Speed, speed
from lantau.catalog.cards import Card, cards

TYPICAL_CONTEXT: Final = 2048
"""Tokens of a request where nobody says how long requests are."""
SHOWN_BATCHES: Final = (1, 8, 32)


class UnservableError(ValueError):
    """A load that no number of replicas serves; the message says why."""


@dataclass(frozen=True, slots=True)
class Device:
    """The card of a question, whole or as a MIG instance."""

    card: Card
    memory_share: float
    """Share of the card's bandwidth."""
    compute_share: float
    """Share of its multiprocessors."""

    @property
    def watts(self) -> float:
        """Power limit of the share, W."""
        return self.card.tdp_w * self.compute_share


def device_of(asked: Question) -> Device | None:
    """The card as the catalogue has it; None for one that is known by its memory only."""
    key, _, profile = asked.card.name.partition(" ")
    card = cards().get(key)
    if card is None:
        return None
    if not profile or not card.mig:
        return Device(card, 1.0, 1.0)
    found = card.mig[profile]
    whole = max(one.memory_slices for one in card.mig.values())
    sevenths = max(one.compute_slices for one in card.mig.values())
    return Device(card, found.memory_slices / whole, found.compute_slices / sevenths)


def speed_at(asked: Question, device: Device, *, batch: int, context: int) -> Speed:
    """Speed of one replica with `batch` requests of `context` tokens each."""
    return speed(
        asked.model,
        device.card,
        tensor=asked.flags.tensor_parallel,
        batch=batch,
        context=context,
        form=format_named(asked.format_name),
        kv_dtype=asked.flags.kv_dtype,
        memory_share=device.memory_share,
        compute_share=device.compute_share,
    )


def requests_held(asked: Question, length: int) -> float:
    """Requests of `length` tokens that one replica serves at once: what the cache holds and a step takes."""
    found = replace(asked, flags=replace(asked.flags, max_model_len=length)).answer()
    if found.verdict is Verdict.DOES_NOT_FIT or found.concurrency is None:
        return 0.0
    return min(found.concurrency, asked.step.sequences)


def speeds(asked: Question, device: Device, context: int) -> list[Speed]:
    """Speeds at a few batches, the last as many requests of `context` tokens as one replica holds."""
    most = int(requests_held(asked, context))
    batches = sorted({batch for batch in SHOWN_BATCHES if batch < most} | ({most} if most else set()))
    return [speed_at(asked, device, batch=batch, context=context) for batch in batches]


def sized(
    asked: Question, device: Device, load: Load, *, machine_watts: float = 0.0, prices: Prices | None = None
) -> tuple[Size, Speed]:
    """Replicas for `load` with one spare, and the speed of a replica as full as is planned with.

    `machine_watts`: a replica's share of its machine. Raises UnservableError when one request of the load does not fit.
    """
    length = load.input_tokens + load.output_tokens
    if asked.flags.max_model_len and length > asked.flags.max_model_len:
        raise UnservableError(
            f"a request of {length:,} tokens is longer than the context of {asked.flags.max_model_len:,}"
        )
    if asked.model.max_positions and length > asked.model.max_positions:
        raise UnservableError(
            f"a request of {length:,} tokens is longer than the model's {asked.model.max_positions:,}"
        )
    held = requests_held(asked, length)
    if held < 1:
        raise UnservableError(f"the cache of one replica holds no request of {length:,} tokens")
    batch = max(1, int(held * CACHE_MARGIN))
    at = speed_at(asked, device, batch=batch, context=load.input_tokens + load.output_tokens // 2)
    tensor = asked.flags.tensor_parallel * asked.flags.pipeline_parallel
    found = size(
        load,
        at,
        concurrency=held,
        cards=tensor,
        card_watts=round(device.watts),
        machine_watts=machine_watts,
        prices=prices,
    )
    return found, at

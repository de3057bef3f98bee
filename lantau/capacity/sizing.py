"""How many replicas a load needs, what they draw, and what a million tokens cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from lantau.capacity.throughput import Range, Speed

CACHE_MARGIN: Final = 0.85
"""Share of the concurrency that is planned with: preemption begins before the cache is full."""
DECODE_MARGIN: Final = 0.70
"""Share of the decode rate that is planned with, so that queues stay short at the peak."""
BUSY_POWER: Final = Range(0.55, 0.75, 0.95)
"""Share of its power limit that a card draws while it serves."""


@dataclass(frozen=True, slots=True)
class Load:
    """The peak of a load."""

    requests_per_second: float
    input_tokens: int
    """Tokens of a prompt, 95th percentile."""
    output_tokens: int
    """Tokens of an answer, 95th percentile."""

    @property
    def input_rate(self) -> float:
        """Prompt tokens a second."""
        return self.requests_per_second * self.input_tokens

    @property
    def output_rate(self) -> float:
        """Answer tokens a second."""
        return self.requests_per_second * self.output_tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """What running costs; currency is the caller's."""

    per_card_hour: float
    per_kwh: float = 0.0


@dataclass(frozen=True, slots=True)
class Size:
    """Replicas of one model for a load."""

    replicas: int
    """With the spare one."""
    needed: int
    """Without it."""
    fleet: Range
    """Replicas with the spare one at the bounds of the speed: what a load test may show to be enough, or needed."""
    binding: str
    """What asks for the most replicas: cache, decode or prefill."""
    concurrency: Range
    """Requests under way at the peak (Little's law)."""
    watts: Range
    """All replicas, cards and their share of the machines, W."""
    per_million_tokens: Range | None
    """Price of a million tokens written at the peak load; None without prices."""


def size(
    load: Load,
    speed: Speed,
    *,
    concurrency: float,
    cards: int,
    card_watts: int,
    machine_watts: float = 0.0,
    prices: Prices | None = None,
    spare: int = 1,
) -> Size:
    """Replicas for `load`, each of `cards` cards that draw `card_watts` W at their limit.

    `concurrency`: requests of the load's length that the cache of one replica holds. `machine_watts`: what a replica's
    share of its machine draws besides. Likely figures decide; the bounds show what the load test has to settle.
    Raises ValueError when the cache holds no request.
    """
    speeds = (
        (speed.prefill.high, speed.per_request.high, speed.decode.high),
        (speed.prefill.likely, speed.per_request.likely, speed.decode.likely),
        (speed.prefill.low, speed.per_request.low, speed.decode.low),
    )
    under_way = [
        load.requests_per_second * (load.input_tokens / prefill + load.output_tokens / answer)
        for prefill, answer, _ in speeds
    ]
    asked = [
        {
            "cache": busy / (CACHE_MARGIN * concurrency) if concurrency > 0 else math.inf,
            "decode": load.output_rate / (DECODE_MARGIN * decode),
            "prefill": load.input_rate / prefill,
        }
        for busy, (prefill, _, decode) in zip(under_way, speeds, strict=True)
    ]
    binding = max(asked[1], key=lambda name: asked[1][name])
    if math.isinf(asked[1][binding]):
        raise ValueError("the cache of one replica holds no request of this load")
    low, needed, high = (max(1, math.ceil(max(of.values()))) for of in asked)
    fleet = Range(low + spare, needed + spare, high + spare)
    watts = Range(
        *(
            replicas * (cards * card_watts * share + machine_watts)
            for replicas, share in zip(
                (fleet.low, fleet.likely, fleet.high),
                (BUSY_POWER.low, BUSY_POWER.likely, BUSY_POWER.high),
                strict=True,
            )
        )
    )
    return Size(
        needed + spare, needed, fleet, binding, Range(*under_way), watts, _price(load, cards, fleet, watts, prices)
    )


def _price(load: Load, cards: int, fleet: Range, watts: Range, prices: Prices | None) -> Range | None:
    if prices is None or load.output_rate <= 0:
        return None
    millions_an_hour = load.output_rate * 3600 / 1e6

    def one(replicas: float, power: float) -> float:
        return (replicas * cards * prices.per_card_hour + power / 1000 * prices.per_kwh) / millions_an_hour

    return Range(one(fleet.low, watts.low), one(fleet.likely, watts.likely), one(fleet.high, watts.high))

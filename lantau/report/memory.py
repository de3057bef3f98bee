"""Memory of a card as a bar of the terminal, readable without colours as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from lantau.capacity.fit import Fit
from lantau.capacity.rank import Rank

WIDTH: Final = 60
"""Characters that stand for the whole card."""
LEAST_SHOWN_GIB: Final = 0.005
OVERFULL: Final = "!"


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a card's memory."""

    name: str
    gib: float
    glyph: str
    colour: str
    """A colour that the terminal and the picture both know by this hexadecimal value."""


def segments(rank: Rank, *, cached: bool = True) -> list[Segment]:
    """The parts of one card in the order of the bar, without those that take nothing; the last is what stays free.

    `cached`: whether the model keeps a cache at all; one that writes no text leaves that memory free.
    """
    cache = max(0.0, rank.cache) if cached else 0.0
    taken = rank.weights + rank.activation + rank.outside + rank.graphs + cache
    parts = (
        Segment("weights", rank.weights, "█", "#4269d0"),
        Segment("activations", rank.activation, "▓", "#efb118"),
        Segment("outside the allocator", rank.outside, "▒", "#9c6b4e"),
        Segment("CUDA graphs", rank.graphs, "░", "#a463f2"),
        Segment("cache", cache, "=", "#3ca951"),
        Segment("left free", max(0.0, rank.total - taken), "·", "#b8b8b8"),
    )
    return [part for part in parts if part.gib >= LEAST_SHOWN_GIB]


def needed(rank: Rank, *, cached: bool = True) -> float:
    """GiB that all parts ask for together; more than the card has when the model does not fit."""
    return sum(part.gib for part in segments(rank, cached=cached) if part.name != "left free")


def bar(rank: Rank, width: int = WIDTH, *, cached: bool = True) -> Text:
    """The card as one line; what goes beyond the card's memory stands behind its end as exclamation marks."""
    text = Text("[")
    drawn = 0
    so_far = 0.0
    for part in segments(rank, cached=cached):
        so_far += part.gib
        end = min(width, round(so_far / rank.total * width))
        text.append(part.glyph * (end - drawn), style=part.colour)
        drawn = max(drawn, end)
    text.append("]")
    beyond = needed(rank, cached=cached) - rank.total
    if beyond > LEAST_SHOWN_GIB:
        text.append(OVERFULL * max(1, min(width, round(beyond / rank.total * width))), style="bold #d62728")
    return text


def legend(rank: Rank, *, cached: bool = True) -> Text:
    """Glyph, name and size of each part, sizes to 0.01 GiB."""
    text = Text()
    for place, part in enumerate(segments(rank, cached=cached)):
        text.append("  " if place else "")
        text.append(part.glyph, style=part.colour)
        text.append(f" {part.name} {part.gib:.2f}")
    text.append(f"  of {rank.total:.2f} GiB")
    return text


@dataclass(frozen=True, slots=True)
class Judged:
    """One line of a chart: an estimate with its title."""

    title: str
    fit: Fit


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a picture shows of one estimate."""

    title: str
    rank: Rank
    verdict: str
    cached: bool


def drawable(found: Sequence[Judged]) -> list[Drawn]:
    """The estimates that came as far as a rank."""
    return [
        Drawn(one.title, one.fit.rank, one.fit.verdict.value, one.fit.pool is not None)
        for one in found
        if one.fit.rank is not None
    ]

"""Memory of a card or of one of its MIG instances, as an engine sees it."""

from __future__ import annotations

import re
from functools import cache

from lantau.capacity.engines import LARGE_CARD_GIB
from lantau.capacity.request import CardMemory
from lantau.catalog.cards import Card, UnknownCardError, card_named

REPORTED_SHARE = 0.983
"""Memory that the driver reports of a card's nominal size, where nothing else is known: 23.6 of 24, 7.86 of 8."""
REPORTED_SPREAD = 0.035
MEASURED_SPREAD = 0.002
"""Difference between two cards of one kind."""
SMALLEST_DIFFERENCE = 0.02
_MIG = re.compile(r"\b(\d+g\.\d+gb)(?:\+me\b|\b)", re.IGNORECASE)
"""A profile; `+me` has media engines besides and the same memory."""
_MIG_WORD = re.compile(r"\bmig\b", re.IGNORECASE)


@cache
def card_memory(name: str | None, gib: float | None = None) -> CardMemory:
    """The card with a name; `gib` is its memory as read from the driver, or its nominal size in GB.

    A size with decimals is taken as read; a whole number that is the card's nominal size is replaced by what cards of
    that kind report. Raises UnknownCardError when neither name nor size say how much memory there is.
    """
    if not name:
        if gib is None:
            raise UnknownCardError("neither the card nor its memory is given")
        return _unknown("a card", gib)
    profile = _MIG.search(name)
    try:
        key, card = card_named(_MIG_WORD.sub("", _MIG.sub("", name)).strip(" -:/") if profile else name, gib)
    except UnknownCardError:
        if gib is None:
            raise
        return _unknown(name, gib)
    if profile:
        return _instance(key, card, profile.group(1).lower())
    return _whole(key, card, gib)


def _whole(key: str, card: Card, gib: float | None) -> CardMemory:
    read = gib is not None and not float(gib).is_integer()
    memory = gib if read and gib else card.memory_gib
    if gib is not None and not read and abs(gib - card.memory_gb) > 0.15 * card.memory_gb:
        memory = gib * REPORTED_SHARE
    return CardMemory(
        key,
        float(memory),
        0.0 if read else MEASURED_SPREAD,
        card.compute_capability,
        fabric=card.nvlink_gb_s >= 400,
        large_batches=memory >= LARGE_CARD_GIB and not key.startswith(("a100", "a800")),
    )


def _instance(key: str, card: Card, profile: str) -> CardMemory:
    profiles = card.mig or {}
    if profile not in profiles:
        choice = ", ".join(profiles) or "none: this card cannot be split"
        raise UnknownCardError(f"{key} has no MIG profile {profile}; it has {choice}")
    return CardMemory(
        f"{key} {profile}",
        profiles[profile].memory_gib,
        MEASURED_SPREAD * 5,
        card.compute_capability,
        instance=True,
    )


def _unknown(name: str, gib: float) -> CardMemory:
    read = not float(gib).is_integer()
    memory = gib if read else gib * REPORTED_SHARE
    return CardMemory(name, memory, 0.0 if read else REPORTED_SPREAD, large_batches=memory >= LARGE_CARD_GIB)

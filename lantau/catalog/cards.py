"""GPU cards: memory, speed and the ways they can be split."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from pydantic import Field

from lantau.catalog.loading import data
from lantau.modelling import Frozen
from lantau.problems import nearest


class MigProfile(Frozen):
    """One way to cut an instance out of a card."""

    memory_gib: float = Field(gt=0)
    """Memory of the instance in GiB, as its driver reports it."""
    compute_slices: int = Field(ge=1, le=7)
    """Sevenths of the card's multiprocessors."""
    memory_slices: int = Field(ge=1, le=8)
    """Eighths of the card's memory and bandwidth."""
    max: int = Field(ge=1, le=7)
    """Instances of this profile that one card holds."""


class Card(Frozen):
    """A GPU model."""

    product: str
    """Value of the node label nvidia.com/gpu.product."""
    aliases: tuple[str, ...] = ()
    """Other names in use, in any case."""
    memory_gb: float = Field(gt=0)
    """Memory in GB as it is sold."""
    memory_gib: float = Field(gt=0)
    """Memory of one card in GiB, as the driver reports it."""
    bandwidth_tb_s: float = Field(gt=0)
    """Memory bandwidth in TB/s."""
    bf16_tflops: float | None = Field(default=None, gt=0)
    """Dense BF16 rate in TFLOP/s; null when the card cannot."""
    fp16_tflops: float = Field(gt=0)
    """Dense FP16 rate in TFLOP/s."""
    fp8_tflops: float | None = Field(default=None, gt=0)
    """Dense FP8 rate in TFLOP/s; null when the card cannot."""
    fp4_tflops: float | None = Field(default=None, gt=0)
    """Dense FP4 rate in TFLOP/s; null when the card cannot."""
    tdp_w: int = Field(gt=0)
    """Power limit in W."""
    compute_capability: float = Field(gt=0)
    """CUDA compute capability, such as 8.9."""
    architecture: str
    nvlink_gb_s: float = Field(ge=0)
    """Bandwidth of NVLink in both directions together in GB/s; 0 without it."""
    p2p: bool
    """Whether cards of one machine can reach each other's memory; without it NCCL must not try."""
    mig: dict[str, MigProfile] | None = None
    """MIG profiles by name; null for a card that cannot be split."""
    note: str = ""
    """What the figures do not say."""
    unchecked: tuple[str, ...] = ()
    """Fields that were not read from a page that was seen."""
    source: str
    """Where the figures come from."""


class UnknownCardError(LookupError):
    """A card that the catalogue does not know."""


@cache
def cards() -> Mapping[str, Card]:
    """Every card by its name in the catalogue."""
    return MappingProxyType({name: Card.model_validate(value) for name, value in data("cards.yaml")["cards"].items()})


def _spelling(name: str) -> str:
    return re.sub(
        r"[^a-z0-9.]+",
        "",
        re.sub(r"\b(nvidia|geforce|tesla|rtx|sxm\d?|pcie|hbm\w*|gpu)\b", " ", re.sub(r"[-_]+", " ", name.lower())),
    )


@cache
def _index() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, card in cards().items():
        for name in {key, card.product, *card.aliases}:
            for spelling in {name.lower(), _spelling(name)}:
                found.setdefault(spelling, [])
                if key not in found[spelling]:
                    found[spelling].append(key)
    return found


@cache
def card_named(name: str, memory: float | None = None) -> tuple[str, Card]:
    """A card by any of its names; `memory` in GB or GiB chooses between cards that are sold with several sizes.

    Raises UnknownCardError.
    """
    known = _index()
    spelling = _spelling(name)
    keys = known.get(name.lower()) or known.get(spelling)
    if not keys:
        sized = re.sub(r"\d+\s*g(i)?b?$", "", name.lower().replace("-", " ").strip())
        keys = known.get(_spelling(sized)) or [
            key for key in cards() if _spelling(key).startswith(_spelling(sized) or "?")
        ]
    if not keys:
        raise UnknownCardError(f"{name!r} is no card of the catalogue. {nearest(name, list(cards()))}")
    if memory is None:
        return keys[0], cards()[keys[0]]

    def off(key: str) -> tuple[float, bool]:
        # Of two forms of one card the one for servers with a fabric is meant, as with the bare name.
        away = min(abs(cards()[key].memory_gb - memory), abs(cards()[key].memory_gib - memory))
        return away, "pcie" in key

    # A bare name is that of one size; another size of the same card is meant when the memory says so.
    sizes = [key for key in cards() if re.fullmatch(re.escape(spelling) + r"[1-9]\d*gb", _spelling(key))]
    best = min((*keys, *sizes), key=off)
    return best, cards()[best]

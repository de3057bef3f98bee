"""Machine classes and cards, read once from machines.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from pydantic import Field
from ruamel.yaml import YAML

from lantau.modelling import Frozen


class Card(Frozen):
    """A GPU model."""

    product: str
    """Value of the node label nvidia.com/gpu.product."""
    memory_gib: float = Field(gt=0)
    """Memory of one card in GiB, as the driver reports it."""
    mig: bool
    """Whether the card can be split into MIG instances."""
    p2p: bool
    """Whether cards of one machine can reach each other's memory; without it NCCL must not try."""
    source: str


class Machine(Frozen):
    """A class of servers."""

    cores: int = Field(gt=0)
    memory_gib: int = Field(gt=0)
    card: str | None = None
    """Key of the card in the catalogue, None for a server without GPUs."""
    cards: int = Field(default=0, ge=0)
    """Number of cards in one server."""
    source: str


@cache
def _catalogue() -> tuple[Mapping[str, Card], Mapping[str, Machine]]:
    text = resources.files(__package__).joinpath("machines.yaml").read_text(encoding="utf-8")
    data = YAML(typ="safe", pure=True).load(text)
    cards = {name: Card.model_validate(value) for name, value in data["cards"].items()}
    found = {name: Machine.model_validate(value) for name, value in data["machines"].items()}
    return MappingProxyType(cards), MappingProxyType(found)


def machines() -> Mapping[str, Machine]:
    """Every machine class by its name in a stack."""
    return _catalogue()[1]


def cards() -> Mapping[str, Card]:
    """Every card by its name in the catalogue."""
    return _catalogue()[0]

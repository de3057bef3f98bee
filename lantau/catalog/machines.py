"""Machine classes that a pool may name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from pydantic import Field

from lantau.catalog.cards import Card, cards
from lantau.catalog.loading import data
from lantau.modelling import Frozen


class Machine(Frozen):
    """A class of servers."""

    cores: int = Field(gt=0)
    """Physical cores."""
    memory_gib: int = Field(gt=0)
    """Main memory, GiB."""
    nvme_gb: int | None = Field(default=None, gt=0)
    """Local NVMe as it is sold, GB; null when the class does not say."""
    card: str | None = None
    """Key of the card in the catalogue, None for a server without GPUs."""
    cards: int = Field(default=0, ge=0)
    """Number of cards in one server."""
    watts: int = Field(gt=0)
    """Power of the machine at load without its cards, W."""
    unchecked: tuple[str, ...] = ()
    """Fields that were not read from a page that was seen."""
    source: str
    """Where the figures come from."""

    @property
    def gpu(self) -> Card | None:
        """The card of the machine."""
        return cards()[self.card] if self.card else None


@cache
def machines() -> Mapping[str, Machine]:
    """Every machine class by its name in a stack."""
    found = {name: Machine.model_validate(value) for name, value in data("machines.yaml")["machines"].items()}
    return MappingProxyType(found)

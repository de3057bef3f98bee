"""Data about hardware, each figure with its source."""

from lantau.catalog.cards import Card, cards
from lantau.catalog.machines import Machine, machines

__all__ = ["Card", "Machine", "cards", "machines"]

"""Data about hardware, each figure with its source."""

from lantau.catalog.machines import Card, Machine, cards, machines

__all__ = ["Card", "Machine", "cards", "machines"]

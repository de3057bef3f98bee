"""Data about hardware, each figure with its source."""

from lantau.catalog.machines import Card, Machine, machines

__all__ = ["Card", "Machine", "machines"]

"""What is judged: the resources of one file."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""Key that marks the engine's special values."""


@dataclass(frozen=True, slots=True)
class Item:
    """One resource of a file: `document` counts from 1."""

    document: int
    token: str
    name: str
    urn: str
    props: dict[str, Any]
    outputs: dict[str, Any] | None = None
    protect: bool = False


@dataclass(slots=True)
class Program:
    """The resources of one file, which stack rules judge together. What cannot be judged is told as items are read."""

    file: str
    items: Iterable[Item]
    problems: list[str] = field(default_factory=list)
    """Bad input."""
    notes: list[str] = field(default_factory=list)
    """What was left out on purpose, and why."""
    skipped: bool = False
    """Whether the file holds nothing to judge and nobody named it."""
    partial: bool = False
    """Whether documents are missing, so that nothing can be said about the whole."""
    repeated: bool = False
    """Whether a key stands twice in a mapping, so that two readers may see two manifests."""

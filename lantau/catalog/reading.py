"""Reads numbers out of a configuration whose keys differ from one family of models to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lantau.catalog.architecture import UnknownLayoutError

Config = Mapping[str, Any]


LARGEST: Final = 10**9
"""No count of a published model comes near it; a larger one is damage, and would fill the memory."""


def number(config: Config, *keys: str, default: int | None = None, most: int = LARGEST) -> int:
    """The first of some keys that is a number.

    Without a default it must be there and at least 1; with one it may be 0, or another kind of value that the model
    gives no number. Raises UnknownLayoutError with the key.
    """
    for key in keys:
        value = config.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        least = 1 if default is None else 0
        if not least <= value <= most:
            raise UnknownLayoutError(f"its configuration has {key!r} outside {least} to {most:,}")
        return int(value)
    if default is None:
        raise UnknownLayoutError(f"its configuration lacks {' or '.join(repr(key) for key in keys)}")
    return default


def divisor(config: Config, *keys: str, default: int) -> int:
    """As `number` with a default, but never 0."""
    found = number(config, *keys, default=default)
    if found < 1:
        raise UnknownLayoutError(f"its configuration has {keys[0]!r} below 1")
    return found

"""Reads numbers out of a configuration whose keys differ from one family of models to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lantau.catalog.architecture import UnknownLayoutError

Config = Mapping[str, Any]


def number(config: Config, *keys: str, default: int | None = None) -> int:
    """The first of some keys that is a number; without a default its absence raises UnknownLayoutError."""
    for key in keys:
        value = config.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value)
    if default is None:
        raise UnknownLayoutError(f"its configuration lacks {' or '.join(repr(key) for key in keys)}")
    return default

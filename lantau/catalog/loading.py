"""Reads the catalogue's data files once."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml  # type: ignore[import-untyped]


@cache
def data(name: str) -> dict[str, Any]:
    """Content of a data file of the catalogue."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    # libyaml reads these files twenty times faster than Python does; they are ours, so lines need no remembering.
    loaded = yaml.load(text, Loader=yaml.CSafeLoader)
    if not isinstance(loaded, dict):
        raise TypeError(f"{name} must hold a mapping")
    return loaded

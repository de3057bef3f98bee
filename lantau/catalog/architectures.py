"""The architectures of the catalogue, and any other from its `config.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lantau.catalog.architecture import Architecture, UnknownLayoutError
from lantau.catalog.configuration import read_configuration
from lantau.catalog.loading import data
from lantau.catalog.names import base_of, candidates, index


class UnknownModelError(LookupError):
    """A model that the catalogue does not know."""


def architecture_names() -> list[str]:
    """Every entry."""
    return list(_entries())


@cache
def _index() -> dict[str, str]:
    return index((key, (*entry["names"], *entry.get("quantised", ()))) for key, entry in _entries().items())


def _entries() -> Mapping[str, Mapping[str, Any]]:
    return data("architectures.yaml")


@cache
def format_of(model: str) -> str | None:
    """Number format of a checkpoint that the catalogue lists as quantised; None when it does not say."""
    for entry in _entries().values():
        found = entry.get("quantised", {}).get(model)
        if found:
            return str(found)
    return None


@cache
def entry_of(model: str) -> str:
    """The catalogue's key for a model's name; raises UnknownModelError."""
    known = _index()
    for spelling in candidates(model):
        if spelling in known:
            return known[spelling]
    tail = base_of(model, known)
    if tail:
        return known[tail]
    raise UnknownModelError(
        f"{model!r} is not in the catalogue of architectures: give its config.json, from which any model can be read"
    )


@cache
def architecture(model: str) -> Architecture:
    """The architecture of a model by its name; raises UnknownModelError, or UnknownLayoutError with the reason."""
    entry = _entries()[entry_of(model)]
    billions = entry.get("parameters_b")
    return read_configuration(entry["config"], parameters=round(billions * 1e9) if billions else None)


def architecture_from_file(config: Path, weights_index: Path | None = None) -> Architecture:
    """The architecture in a `config.json`; raises UnknownLayoutError when it is none, or no rule is known for it.

    `weights_index`: its safetensors index, whose total size tells the elements that the configuration leaves open.
    """
    content = _mapping(config)
    found = read_configuration(content)
    if weights_index is None:
        return found
    total = _mapping(weights_index).get("metadata", {}).get("total_size")
    if not isinstance(total, int):
        raise UnknownLayoutError(f"{weights_index}: has no metadata.total_size, so it is no safetensors index")
    if found.quantisation:
        return found
    return read_configuration(content, parameters=total // found.bytes_per_element)


def _mapping(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnknownLayoutError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        ) from None
    except (json.JSONDecodeError, RecursionError):
        raise UnknownLayoutError(f"{path}: is no JSON") from None
    if not isinstance(content, dict):
        raise UnknownLayoutError(f"{path}: must hold a mapping, as a config.json does")
    return content

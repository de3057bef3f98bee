"""Plain values out of the SDK's proxies, with unknowns kept as leaves."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pulumi
from pulumi_policy import Secret
from pulumi_policy.proxy import UnknownValueError

from policies.model.assets import asset_value

Plain: TypeAlias = Any
"""None, bool, int, float, str, list, dict, or `UNKNOWN`."""


class Unknown:
    """A value that the engine cannot know before the update."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unknown>"

    def __bool__(self) -> bool:
        """Refuse a truth test: a rule must say what it does with an unknown."""
        raise TypeError("an unknown value has no truth; test it with `is UNKNOWN`")


UNKNOWN: Final = Unknown()

# The engine's serialised form of values it cannot know yet; state files and remediation carry them bare.
_SENTINELS: Final = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)


def plain(value: Any) -> Plain:
    """Copy a proxied value into dicts, lists and scalars.

    Whole floats become ints (protobuf has no integers), secrets are unwrapped, assets become their text, and
    each unknown becomes `UNKNOWN` at its own place.
    """
    if isinstance(value, str):
        return UNKNOWN if len(value) == 36 and value in _SENTINELS else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        return {str(key): _member(value, key) for key in value}
    if isinstance(value, Sequence):
        return [_member(value, index) for index in range(len(value))]
    if isinstance(value, Secret):
        return plain(value.value)
    if isinstance(value, pulumi.Asset | pulumi.Archive):
        text = asset_value(value)
        return UNKNOWN if text is None else plain(text)
    return str(value)


def _member(container: Any, key: Any) -> Plain:
    try:
        value = container[key]
    except UnknownValueError:
        return UNKNOWN
    return plain(value)


def child(value: Plain, *keys: str) -> Plain:
    """Value under a chain of keys: None where a step is missing, `UNKNOWN` where a step is unknown."""
    for key in keys:
        if value is UNKNOWN:
            return UNKNOWN
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def items(value: Plain, path: str) -> Iterator[tuple[str, Plain]]:
    """Members of a list with their paths; an unknown list is one unknown member, a scalar is a list of one."""
    if value is None:
        return
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield f"{path}[{index}]", member
    else:
        yield path, value


def among(value: Plain, texts: Collection[str]) -> bool:
    """Whether a value is one of some texts; lists and mappings, which no set can hold, are none."""
    return isinstance(value, str) and value in texts


def join(path: str, key: str) -> str:
    """Path of a key below `path`, quoted where a dot or slash would mislead the reader."""
    if not path:
        return key
    if key.replace("_", "").replace("-", "").isalnum():
        return f"{path}.{key}"
    return f'{path}["{key}"]'


def number(value: Plain) -> float | None:
    """Value of a number however it was written (3, 3.0, "3"); None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def leaves(value: Plain, path: str = "", skip: frozenset[int] = frozenset()) -> Iterator[tuple[str, str | None, Plain]]:
    """Every scalar or unknown below `value` as (path, last key or None for list members, leaf).

    `skip` holds the ids of mappings that are not descended into.
    """
    stack: list[tuple[str, str | None, Plain]] = [(path, None, value)]
    while stack:
        where, key, current = stack.pop()
        if isinstance(current, dict):
            if current is not value and id(current) in skip:
                continue
            stack.extend((join(where, name), name, member) for name, member in reversed(current.items()))
        elif isinstance(current, list):
            stack.extend((f"{where}[{n}]", None, m) for n, m in reversed(list(zip(itertools.count(), current))))
        else:
            yield where, key, current


def word_set(text: str) -> frozenset[str]:
    """Words of a text, each once."""
    return frozenset(text.split())

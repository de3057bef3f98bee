"""Property values of the engine as plain Python, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pulumi.provider.experimental.property_value import Computed, PropertyValue


class Unknown:
    """Stands for a value that the engine does not know yet, as happens in a preview."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()

_WIRE_UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_WIRE_UNKNOWNS: Final = frozenset(
    {
        _WIRE_UNKNOWN,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""What the engine sends for an unknown string, boolean, number, array and object. The SDK's Computed is never sent:
its marshalling refuses it, and its unmarshalling leaves these strings as they are.
"""

Plain = dict[str, Any]
"""Property name to None, bool, int, float, str, list, dict or UNKNOWN."""


def to_plain(value: PropertyValue) -> Any:
    """One property value as plain Python; whole numbers become int, since the wire knows only floats."""
    inner = value.value
    if isinstance(inner, str) and inner in _WIRE_UNKNOWNS:
        return UNKNOWN
    if inner is None or isinstance(inner, bool | str):
        return inner
    if isinstance(inner, float):
        return int(inner) if inner.is_integer() else inner
    if isinstance(inner, Computed):
        return UNKNOWN
    if isinstance(inner, Mapping):
        return {key: to_plain(item) for key, item in inner.items()}
    if isinstance(inner, Sequence):
        return [to_plain(item) for item in inner if isinstance(item, PropertyValue)]
    return inner


def to_property(value: Any) -> PropertyValue:
    """Plain Python as a property value. Raises TypeError for a type that the wire does not know."""
    if isinstance(value, PropertyValue):
        return value
    if isinstance(value, Unknown):
        return PropertyValue(_WIRE_UNKNOWN)
    if isinstance(value, int) and not isinstance(value, bool):
        return PropertyValue(float(value))
    if isinstance(value, Mapping):
        return PropertyValue({key: to_property(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return PropertyValue([to_property(item) for item in value])
    return PropertyValue(value)


def plain_map(values: Mapping[str, PropertyValue] | None) -> Plain:
    """A map of properties as plain Python, without the engine's own keys and without nulls."""
    plain = {key: to_plain(value) for key, value in (values or {}).items() if not key.startswith("__")}
    return {key: value for key, value in plain.items() if value is not None}


def property_map(values: Mapping[str, Any]) -> dict[str, PropertyValue]:
    """Plain Python as a map of properties; None is left out."""
    return {key: to_property(value) for key, value in values.items() if value is not None}


def holds_unknown(value: Any) -> bool:
    """Whether a plain value is unknown or holds an unknown one somewhere inside."""
    if isinstance(value, Unknown):
        return True
    if isinstance(value, dict):
        return any(holds_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(holds_unknown(item) for item in value)
    return False

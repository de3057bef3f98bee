"""Checks of inputs: every failure names the property, what was given and what would be right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

from pulumi.provider.experimental.provider import CheckFailure

from provider.values import Plain, Unknown


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like `word`, or an empty string."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence for an unknown word: the nearest known one, or all of them."""
    names = sorted(known)
    near = nearest(word, names)
    return f"did you mean {near}?" if near else f"known are {', '.join(names)}"


def type_name(value: Any) -> str:
    """What a plain value is called in a message; never the value itself."""
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "a map"}
    return names.get(type(value), type(value).__name__)


class Inputs:
    """Reads inputs by name and collects failures; an unknown value passes every check and stays unknown."""

    def __init__(self, values: Plain, path: str = "", failures: list[CheckFailure] | None = None) -> None:
        self.values = values
        self.path = path
        self.failures: list[CheckFailure] = [] if failures is None else failures

    def fail(self, name: str, reason: str) -> None:
        """Record one failure at `name` below this path."""
        self.failures.append(CheckFailure(f"{self.path}.{name}" if self.path else name, reason))

    def only(self, known: Iterable[str]) -> None:
        """Refuse every other name, with the nearest known one."""
        names = list(known)
        for name in sorted(set(self.values) - set(names)):
            self.fail(name, f"there is no such input; {did_you_mean(name, names)}")

    def text(
        self,
        name: str,
        *,
        default: str | None = None,
        pattern: str | None = None,
        longest: int | None = None,
        rule: str = "",
    ) -> Any:
        """A string; required when `default` is None. `rule` says in words what `pattern` asks for."""
        value = self.values.get(name, default)
        if isinstance(value, Unknown):
            return value
        if value is None:
            self.fail(name, f"is required: {rule}" if rule else "is required")
        elif not isinstance(value, str):
            self.fail(name, f"must be a string, not {type_name(value)}")
        elif longest is not None and len(value) > longest:
            self.fail(name, f"is {len(value)} characters long; at most {longest} are allowed")
        elif pattern is not None and not re.fullmatch(pattern, value):
            self.fail(name, f"{value!r} is not valid: {rule}")
        return value

    def integer(self, name: str, *, default: int | None = None, low: int, high: int) -> Any:
        """A whole number between `low` and `high`, both allowed; required when `default` is None."""
        value = self.values.get(name, default)
        if isinstance(value, Unknown):
            return value
        if value is None:
            self.fail(name, f"is required: a whole number from {low} to {high}")
        elif isinstance(value, bool) or not isinstance(value, int):
            given = repr(value) if isinstance(value, float) else type_name(value)
            self.fail(name, f"must be a whole number from {low} to {high}, not {given}")
        elif not low <= value <= high:
            self.fail(name, f"{value} is out of range; it must be from {low} to {high}")
        return value

    def flag(self, name: str, *, default: bool) -> Any:
        """A boolean."""
        value = self.values.get(name, default)
        if not isinstance(value, bool | Unknown):
            self.fail(name, f"must be true or false, not {type_name(value)}")
        return value

    def choice(self, name: str, allowed: Iterable[str], *, default: str | None = None) -> Any:
        """One of a few strings; required when `default` is None."""
        names = list(allowed)
        value = self.values.get(name, default)
        if isinstance(value, Unknown):
            return value
        if value is None:
            self.fail(name, f"is required: one of {', '.join(names)}")
        elif not isinstance(value, str):
            self.fail(name, f"must be a string, not {type_name(value)}")
        elif value not in names:
            self.fail(name, f"{value!r} is not one of {', '.join(names)}; {did_you_mean(value, names)}")
        return value

    def mapping(self, name: str) -> Any:
        """A map, empty when left out."""
        value = self.values.get(name, {})
        if isinstance(value, dict | Unknown):
            return value
        self.fail(name, f"must be a map, not {type_name(value)}")
        return {}

    def sequence(self, name: str) -> list[Any]:
        """A list, empty when left out or unknown."""
        value = self.values.get(name, [])
        if isinstance(value, Unknown):
            return []
        if isinstance(value, list):
            return value
        self.fail(name, f"must be a list, not {type_name(value)}")
        return []

    def below(self, name: str, values: Plain) -> Inputs:
        """Inputs one level down, sharing the failures."""
        return Inputs(values, f"{self.path}.{name}" if self.path else name, self.failures)

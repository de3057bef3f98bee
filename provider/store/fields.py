"""What a managed secret holds: named fields, their shapes, and the making of their values."""

from __future__ import annotations

import math
import re
import secrets
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ALPHABETS: Final[Mapping[str, str]] = {
    "alphanumeric": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "urlsafe": string.ascii_letters + string.digits + "-_",
}
DEFAULT_ALPHABET: Final = "alphanumeric"
DEFAULT_LENGTH: Final = 48
LONGEST: Final = 256
LEAST_BITS: Final = 128
"""Entropy below which a generated value is refused, in bits."""
MOST_FIELDS: Final = 24
"""AWS allows 50 tags on a secret, and each field takes one."""
FIELD_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
PREFIX: Final = r"[A-Za-z0-9_-]{0,24}"
TELLING: Final = re.compile(r"pass|secret|token|private|credential|(^|[._-])key$|apikey", re.IGNORECASE)
"""Field names whose value must not be a fixed one."""

_TAG = re.compile(r"random length=(\d+) alphabet=([a-z]+) rotate=(yes|no)(?: prefix=([A-Za-z0-9_-]*))?")


@dataclass(frozen=True)
class Field:
    """One entry of a secret's JSON object."""

    kind: str = "random"
    """`random`: made by the provider. `fixed`: a companion that is no secret, such as a user name."""
    length: int = DEFAULT_LENGTH
    """Random characters, without the prefix."""
    alphabet: str = DEFAULT_ALPHABET
    prefix: str = ""
    """Fixed characters in front, so that a scanner knows a leaked key for ours."""
    rotate: bool = True
    """Whether a new epoch makes a new value; false for what data at rest depends on."""
    value: str = ""
    """Value of a fixed field."""

    def generate(self) -> str:
        """A new value."""
        if self.kind == "fixed":
            return self.value
        letters = ALPHABETS[self.alphabet]
        return self.prefix + "".join(secrets.choice(letters) for _ in range(self.length))

    def to_plain(self) -> dict[str, str | int | bool]:
        """As an input, with every default filled in."""
        if self.kind == "fixed":
            return {"kind": self.kind, "value": self.value}
        return {
            "kind": self.kind,
            "length": self.length,
            "alphabet": self.alphabet,
            "prefix": self.prefix,
            "rotate": self.rotate,
        }

    def to_tag(self) -> str:
        """As the value of a tag, from which an import reads the shape back."""
        if self.kind == "fixed":
            return "fixed"
        prefix = f" prefix={self.prefix}" if self.prefix else ""
        return f"random length={self.length} alphabet={self.alphabet} rotate={'yes' if self.rotate else 'no'}{prefix}"

    @classmethod
    def from_tag(cls, tag: str, value: str) -> Field:
        """From a tag and, for a fixed field, the value that the store holds. An unreadable tag gives the default."""
        if tag == "fixed":
            return cls(kind="fixed", value=value)
        match = _TAG.fullmatch(tag)
        if match is None or match[2] not in ALPHABETS:
            return cls()
        return cls(length=int(match[1]), alphabet=match[2], rotate=match[3] == "yes", prefix=match[4] or "")

    @classmethod
    def from_plain(cls, values: Mapping[str, object]) -> Field:
        """From checked inputs."""
        return cls(**values)  # type: ignore[arg-type]


def least_length(alphabet: str) -> int:
    """The fewest characters of an alphabet that carry LEAST_BITS."""
    return math.ceil(LEAST_BITS / math.log2(len(ALPHABETS[alphabet])))


def make_values(fields: Mapping[str, Field], old: Mapping[str, str], *, rotate: bool) -> dict[str, str]:
    """Values of every field: fixed ones as declared, old random ones kept unless rotated, the others new."""

    def value(name: str, field: Field) -> str:
        if field.kind == "random" and name in old and not (rotate and field.rotate):
            return old[name]
        return field.generate()

    return {name: value(name, field) for name, field in sorted(fields.items())}

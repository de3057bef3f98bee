"""A managed secret as it is declared: inputs checked, tags and version ids derived."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pulumi.provider.experimental.provider import CheckFailure

from provider.inputs import Inputs, type_name
from provider.store import fields as shapes
from provider.store.fields import Field
from provider.values import Plain, Unknown, holds_unknown

PREFIX: Final = "lantau"
TAG_STACK: Final = f"{PREFIX}:stack"
TAG_OWNER: Final = f"{PREFIX}:managed-by"
TAG_EPOCH: Final = f"{PREFIX}:epoch"
TAG_HOLDER: Final = f"{PREFIX}:holder"
TAG_FIELD: Final = f"{PREFIX}:field:"
OWNER: Final = "pulumi"

INPUTS: Final = ("name", "description", "fields", "epoch", "recoveryDays", "tags", "kmsKeyId")
DEFAULT_RECOVERY: Final = 30
MOST_TAGS: Final = 16
HIGHEST_EPOCH: Final = 100_000

_NAME_PART: Final = r"[A-Za-z0-9_+=.@-]+"
_TAG_TEXT: Final = r"[\w\s+\-=.:/@]*"


@dataclass(frozen=True)
class SecretSpec:
    """Checked inputs of one managed secret."""

    name: str
    description: str
    fields: Mapping[str, Field]
    epoch: int
    recovery_days: int
    tags: Mapping[str, str]
    kms_key_id: str | None

    @classmethod
    def from_plain(cls, values: Plain) -> SecretSpec:
        """From inputs that `check` has passed, none of them unknown."""
        return cls(
            name=values["name"],
            description=values["description"],
            fields={name: Field.from_plain(field) for name, field in values["fields"].items()},
            epoch=values["epoch"],
            recovery_days=values["recoveryDays"],
            tags=values["tags"],
            kms_key_id=values.get("kmsKeyId"),
        )

    @property
    def stack(self) -> str:
        """The stack that owns the secret: the second part of its name."""
        return self.name.split("/")[1]

    @property
    def system_tags(self) -> dict[str, str]:
        """Tags by which the secret is known for ours and its shape is read back."""
        return {
            TAG_OWNER: OWNER,
            TAG_STACK: self.stack,
            TAG_EPOCH: str(self.epoch),
            **{f"{TAG_FIELD}{name}": field.to_tag() for name, field in self.fields.items()},
        }

    def epoch_token(self) -> str:
        """Version id of this epoch's first version: known before it is made, so that a repeated run finds it."""
        return _digest(self.name, self.epoch)

    def reshaped_token(self, current: str | None) -> str:
        """Version id for other fields within the same epoch, following the current version."""
        shape = {name: field.to_plain() for name, field in self.fields.items()}
        return _digest(self.name, self.epoch, current, shape)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(["lantau managed secret", *parts], sort_keys=True).encode()).hexdigest()


def check_secret(stack: str | None, olds: Plain, news: Plain) -> tuple[Plain, list[CheckFailure]]:
    """Inputs with defaults filled in, and failures; `olds` are the inputs of the last run, empty for a new secret."""
    inputs = Inputs(news)
    inputs.only(INPUTS)
    owner = stack or "<stack>"
    name = inputs.text(
        "name",
        pattern=rf"{PREFIX}/{_NAME_PART}(/{_NAME_PART})+",
        longest=512,
        rule=f"{PREFIX}/{owner}/<tier>/<name>, parts of letters, digits and _+=.@-",
    )
    if stack and isinstance(name, str) and name.startswith(f"{PREFIX}/") and name.split("/")[1] != stack:
        inputs.fail("name", f"{name!r} belongs to another stack; secrets of this one begin with {PREFIX}/{stack}/")
    checked: Plain = {
        "name": name,
        "description": inputs.text("description", pattern=r"(?s).*\S.*", longest=2048, rule="say what uses the secret"),
        "fields": _check_fields(inputs),
        "epoch": inputs.integer("epoch", default=1, low=1, high=HIGHEST_EPOCH),
        "recoveryDays": inputs.integer("recoveryDays", default=DEFAULT_RECOVERY, low=7, high=30),
        "tags": _check_tags(inputs),
    }
    if "kmsKeyId" in news:
        checked["kmsKeyId"] = inputs.text("kmsKeyId", pattern=r"\S+", rule="a KMS key id, ARN or alias/<name>")
    if not inputs.failures and olds and not holds_unknown(checked) and olds.get("name") == name:
        _check_against_last(inputs, olds, checked)
    return checked, inputs.failures


def _check_fields(inputs: Inputs) -> Any:
    given = inputs.mapping("fields")
    if isinstance(given, Unknown):
        return given
    if not given and isinstance(inputs.values.get("fields", {}), dict):
        inputs.fail("fields", "at least one field is required, for example {password: {kind: random}}")
    if len(given) > shapes.MOST_FIELDS:
        inputs.fail("fields", f"{len(given)} fields are too many; at most {shapes.MOST_FIELDS} fit one secret")
    below = inputs.below("fields", given)
    checked: Plain = {}
    for name, values in given.items():
        if not re.fullmatch(shapes.FIELD_NAME, name):
            below.fail(name, "a field's name has letters, digits, dots, underscores and dashes, at most 63")
        elif isinstance(values, Unknown):
            checked[name] = values
        elif not isinstance(values, dict):
            below.fail(name, f"must be a map such as {{kind: random, length: 48}}, not {type_name(values)}")
        else:
            checked[name] = _check_field(name, below.below(name, {k: v for k, v in values.items() if v is not None}))
    return checked


def _check_field(name: str, field: Inputs) -> Plain:
    kind = field.choice("kind", ("random", "fixed"), default="random")
    if kind == "fixed":
        field.only(("kind", "value"))
        value = field.text("value", longest=256, rule="a fixed field's value")
        if shapes.TELLING.search(name):
            field.fail(
                "kind", "by its name this is a secret, and a fixed value stands in program and state; use random"
            )
        return {"kind": kind, "value": value}
    field.only(("kind", "length", "alphabet", "prefix", "rotate"))
    alphabet = field.choice("alphabet", shapes.ALPHABETS, default=shapes.DEFAULT_ALPHABET)
    low = shapes.least_length(alphabet) if isinstance(alphabet, str) and alphabet in shapes.ALPHABETS else 1
    return {
        "kind": kind,
        "length": field.integer("length", default=shapes.DEFAULT_LENGTH, low=low, high=shapes.LONGEST),
        "alphabet": alphabet,
        "prefix": field.text("prefix", default="", pattern=shapes.PREFIX, rule="at most 24 letters, digits, _ and -"),
        "rotate": field.flag("rotate", default=True),
    }


def _check_tags(inputs: Inputs) -> Any:
    tags = inputs.mapping("tags")
    if isinstance(tags, Unknown):
        return tags
    if len(tags) > MOST_TAGS:
        inputs.fail("tags", f"{len(tags)} tags are too many; at most {MOST_TAGS}")
    below = inputs.below("tags", tags)
    for key in tags:
        if key.startswith((f"{PREFIX}:", "aws:")):
            below.fail(key, "tags that begin with lantau: or aws: are not for the program to set")
        elif not 1 <= len(key) <= 128:
            below.fail(key, "a tag's key has 1 to 128 characters")
        below.text(key, pattern=_TAG_TEXT, longest=256, rule="letters, digits, spaces and + - = . _ : / @")
    return dict(tags)


def _check_against_last(inputs: Inputs, olds: Plain, news: Plain) -> None:
    """What may not happen without a new epoch, and that epochs only go up."""
    last = olds.get("epoch")
    if not isinstance(last, int):
        return
    if news["epoch"] < last:
        inputs.fail(
            "epoch", f"{news['epoch']} is behind the store, which is at {last}; to rotate again, set {last + 1}"
        )
    if news["epoch"] != last:
        return
    for name, field in news["fields"].items():
        old = (olds.get("fields") or {}).get(name)
        if not isinstance(old, dict) or "random" not in (old.get("kind"), field["kind"]):
            continue
        changed = [key for key in ("kind", "length", "alphabet", "prefix") if old.get(key) != field.get(key)]
        if changed:
            inputs.fail(
                f"fields.{name}.{changed[0]}",
                f"a change here makes a new value, which is a rotation; set epoch to {last + 1} as well",
            )

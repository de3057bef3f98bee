"""The resources of the random provider: what each takes, and what it makes of it."""

import base64
import random
import secrets
import string
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Values = dict[str, Any]
"""Property name (camelCase) to plain Python."""

SPECIAL: Final = "!@#$%&*()-_=+[]{}<>:?"
_ADVERBS, _ADJECTIVES, _NAMES = (
    line.split() for line in Path(__file__).with_name("pet_words.txt").read_text(encoding="utf-8").splitlines()
)


class InvalidError(Exception):
    """An input that makes no sense: the property, and what would be right."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


@dataclass(frozen=True)
class Field:
    """One input: its type, whether it must be given, and its default when not."""

    type: type
    required: bool = False
    default: Any = None


@dataclass(frozen=True)
class Made:
    """A new resource: its id, its outputs beside the inputs, and which of those are secret."""

    id: str
    outputs: Values


@dataclass(frozen=True)
class Kind:
    """One resource type. `check` raises InvalidError; `make` gets inputs that passed it, defaults filled in."""

    inputs: Mapping[str, Field]
    outputs: tuple[str, ...]
    make: Callable[[Values], Made]
    check: Callable[[Values], None] = lambda _: None
    adopt: Callable[[str], tuple[Values, Made]] | None = None
    secret: frozenset[str] = frozenset()


_KEEPERS: Final = {"keepers": Field(dict)}


def _at_least(values: Values, name: str, least: int) -> None:
    if isinstance(values.get(name), int) and values[name] < least:
        raise InvalidError(name, f"is {values[name]} and must be at least {least}")


def _encode(raw: bytes, prefix: str) -> Made:
    url = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    forms = {
        "b64Std": base64.b64encode(raw).decode(),
        "b64Url": url,
        "dec": str(int.from_bytes(raw, "big")),
        "hex": raw.hex(),
    }
    return Made(url, {name: prefix + text for name, text in forms.items()})


def _make_id(values: Values) -> Made:
    return _encode(secrets.token_bytes(values["byteLength"]), values.get("prefix", ""))


def _adopt_id(text: str) -> tuple[Values, Made]:
    prefix, _, encoded = text.rpartition(",")
    try:
        raw = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise InvalidError(
            "id", "must be the value in URL-safe base64, after `PREFIX,` when it has a prefix"
        ) from error
    inputs: Values = {"byteLength": len(raw)}
    return (inputs | {"prefix": prefix} if prefix else inputs), _encode(raw, prefix)


_CLASSES: Final = {
    "lower": ("minLower", string.ascii_lowercase),
    "upper": ("minUpper", string.ascii_uppercase),
    "numeric": ("minNumeric", string.digits),
    "special": ("minSpecial", SPECIAL),
}


def _check_string(values: Values) -> None:
    if values.setdefault("number", values["numeric"]) != values["numeric"]:  # the old name of the same flag
        raise InvalidError("number", "contradicts numeric; leave it out")
    _at_least(values, "length", 1)
    least = 0
    for flag, (minimum, _) in _CLASSES.items():
        _at_least(values, minimum, 0)
        least += values[minimum] if isinstance(values.get(minimum), int) else 0
        if values.get(flag) is False and isinstance(values.get(minimum), int) and values[minimum] > 0:
            raise InvalidError(minimum, f"is {values[minimum]}, but {flag} is false")
    if isinstance(values.get("length"), int) and values["length"] < least:
        raise InvalidError("length", f"is {values['length']}, less than the {least} that the minimums add up to")
    if all(values.get(flag) is False for flag in _CLASSES):
        raise InvalidError("lower", f"one of {', '.join(_CLASSES)} must be true")


def _make_text(values: Values) -> str:
    sets = {flag: characters for flag, (_, characters) in _CLASSES.items()}
    sets["special"] = values.get("overrideSpecial") or SPECIAL
    chosen = [secrets.choice(sets[flag]) for flag, (least, _) in _CLASSES.items() for _ in range(values[least])]
    everything = "".join(characters for flag, characters in sets.items() if values[flag])
    chosen += [secrets.choice(everything) for _ in range(values["length"] - len(chosen))]
    secrets.SystemRandom().shuffle(chosen)
    return "".join(chosen)


def _make_string(values: Values) -> Made:
    text = _make_text(values)
    return Made(text, {"result": text})


# Hashing would need one more dependency. Null rather than left out: an output that is missing shows as unknown in every
# preview.
_NO_HASH: Final[Values] = {"bcryptHash": None}


def _make_password(values: Values) -> Made:
    return Made("none", {"result": _make_text(values), **_NO_HASH})


def _check_pet(values: Values) -> None:
    _at_least(values, "length", 1)


def _make_pet(values: Values) -> Made:
    words = [secrets.choice(_ADVERBS) for _ in range(values["length"] - 2)]
    words += [secrets.choice(_ADJECTIVES)] if values["length"] > 1 else []
    words = [*([values["prefix"]] if values.get("prefix") else []), *words, secrets.choice(_NAMES)]
    return Made(values["separator"].join(words), {})


def _check_integer(values: Values) -> None:
    low, high = values.get("min"), values.get("max")
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise InvalidError("min", f"is {low}, more than max, which is {high}")


def _generator(values: Values) -> random.Random:
    # A seed asks for a value that repeats; it repeats here, but is not the one that the real provider would draw.
    return random.Random(values["seed"]) if values.get("seed") else secrets.SystemRandom()  # noqa: S311


def _make_integer(values: Values) -> Made:
    number = _generator(values).randint(values["min"], values["max"])
    return Made(str(number), {"result": number})


def _adopt_integer(text: str) -> tuple[Values, Made]:
    try:
        number, low, high = (int(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidError("id", "must be `RESULT,MIN,MAX`") from error
    return {"min": low, "max": high}, Made(str(number), {"result": number})


def _make_uuid(_: Values) -> Made:
    text = str(uuid.uuid4())
    return Made(text, {"result": text})


def _adopt_uuid(text: str) -> tuple[Values, Made]:
    try:
        same = str(uuid.UUID(text))
    except ValueError as error:
        raise InvalidError("id", "must be a UUID") from error
    return {}, Made(same, {"result": same})


def _check_shuffle(values: Values) -> None:
    _at_least(values, "resultCount", 0)


def _make_shuffle(values: Values) -> Made:
    generator, items = _generator(values), list(values["inputs"])
    wanted = values.get("resultCount", len(items))
    results: list[Any] = []
    while items and len(results) < wanted:  # a count beyond the list repeats it, each time in another order
        results += generator.sample(items, len(items))
    return Made("-", {"results": results[:wanted]})


def _text_inputs() -> dict[str, Field]:
    fields = {"length": Field(int, required=True), "overrideSpecial": Field(str), **_KEEPERS}
    for flag, (minimum, _) in _CLASSES.items():
        fields |= {flag: Field(bool, default=True), minimum: Field(int, default=0)}
    return fields | {"number": Field(bool)}


def _adopt_string(text: str) -> tuple[Values, Made]:
    return {"length": len(text)}, Made(text, {"result": text})


def _adopt_password(text: str) -> tuple[Values, Made]:
    return {"length": len(text)}, Made("none", {"result": text, **_NO_HASH})


KINDS: Final[dict[str, Kind]] = {
    "random:index/randomId:RandomId": Kind(
        {"byteLength": Field(int, required=True), "prefix": Field(str), **_KEEPERS},
        ("b64Std", "b64Url", "dec", "hex"),
        _make_id,
        lambda values: _at_least(values, "byteLength", 1),
        _adopt_id,
    ),
    "random:index/randomPassword:RandomPassword": Kind(
        _text_inputs(), ("result", "bcryptHash"), _make_password, _check_string, _adopt_password, frozenset({"result"})
    ),
    "random:index/randomString:RandomString": Kind(
        _text_inputs(), ("result",), _make_string, _check_string, _adopt_string
    ),
    "random:index/randomPet:RandomPet": Kind(
        {"length": Field(int, default=2), "separator": Field(str, default="-"), "prefix": Field(str), **_KEEPERS},
        (),
        _make_pet,
        _check_pet,
    ),
    "random:index/randomInteger:RandomInteger": Kind(
        {"min": Field(int, required=True), "max": Field(int, required=True), "seed": Field(str), **_KEEPERS},
        ("result",),
        _make_integer,
        _check_integer,
        _adopt_integer,
    ),
    "random:index/randomUuid:RandomUuid": Kind({**_KEEPERS}, ("result",), _make_uuid, adopt=_adopt_uuid),
    "random:index/randomShuffle:RandomShuffle": Kind(
        {"inputs": Field(list, required=True), "resultCount": Field(int), "seed": Field(str), **_KEEPERS},
        ("results",),
        _make_shuffle,
        _check_shuffle,
    ),
}

"""Inputs of a managed secret: what is refused, in which words, and what a field's value looks like."""

import math
from typing import Any

import pytest

from provider.store.fields import ALPHABETS, Field, least_length, make_values
from provider.store.spec import check_secret
from provider.values import UNKNOWN, Plain

NAME = "lantau/dev/vector/qdrant"


def failures(olds: Plain | None = None, stack: str | None = "dev", **changes: Any) -> dict[str, str]:
    given = {"name": NAME, "description": "what for", "fields": {"api-key": {"kind": "random"}}, **changes}
    news = {key: value for key, value in given.items() if value is not None}
    return {failure.property: failure.reason for failure in check_secret(stack, olds or {}, news)[1]}


def checked(**changes: Any) -> Plain:
    given = {"name": NAME, "description": "what for", "fields": {"api-key": {"kind": "random"}}, **changes}
    values, failed = check_secret("dev", {}, given)
    assert not failed
    return values


def test_defaults_are_filled_in_where_state_shows_them() -> None:
    assert checked() == {
        "name": NAME,
        "description": "what for",
        "fields": {
            "api-key": {"kind": "random", "length": 48, "alphabet": "alphanumeric", "prefix": "", "rotate": True}
        },
        "epoch": 1,
        "recoveryDays": 30,
        "tags": {},
    }


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"naem": "x"}, "naem", "there is no such input; did you mean name?"),
        ({"name": "qdrant"}, "name", "lantau/dev/<tier>/<name>"),
        ({"name": "lantau/dev"}, "name", "lantau/dev/<tier>/<name>"),
        ({"name": "lantau/prod/x"}, "name", "belongs to another stack; secrets of this one begin with lantau/dev/"),
        ({"name": 3}, "name", "must be a string, not a number"),
        ({"name": None}, "name", "is required"),
        ({"description": " "}, "description", "say what uses the secret"),
        ({"epoch": 0}, "epoch", "0 is out of range; it must be from 1 to"),
        ({"epoch": 1.5}, "epoch", "must be a whole number from 1 to 100000, not 1.5"),
        ({"epoch": True}, "epoch", "not a boolean"),
        ({"recoveryDays": 6}, "recoveryDays", "6 is out of range; it must be from 7 to 30"),
        ({"recoveryDays": 31}, "recoveryDays", "from 7 to 30"),
        ({"fields": {}}, "fields", "at least one field"),
        ({"fields": ["a"]}, "fields", "must be a map, not a list"),
        ({"fields": {f"f{n}": {} for n in range(25)}}, "fields", "at most 24"),
        ({"fields": {"a/b": {}}}, "fields.a/b", "letters, digits, dots"),
        ({"fields": {"a": "random"}}, "fields.a", "must be a map such as"),
        ({"fields": {"a": {"kind": "randon"}}}, "fields.a.kind", "did you mean random?"),
        ({"fields": {"a": {"lenght": 48}}}, "fields.a.lenght", "did you mean length?"),
        ({"fields": {"a": {"length": 21}}}, "fields.a.length", "from 22 to 256"),
        ({"fields": {"a": {"length": 31, "alphabet": "hex"}}}, "fields.a.length", "from 32 to 256"),
        ({"fields": {"a": {"alphabet": "base64"}}}, "fields.a.alphabet", "alphanumeric, hex, urlsafe"),
        ({"fields": {"a": {"prefix": "sk live"}}}, "fields.a.prefix", "at most 24 letters"),
        ({"fields": {"a": {"rotate": "no"}}}, "fields.a.rotate", "must be true or false"),
        ({"fields": {"user": {"kind": "fixed"}}}, "fields.user.value", "is required"),
        ({"fields": {"password": {"kind": "fixed", "value": "x"}}}, "fields.password.kind", "use random"),
        ({"fields": {"user": {"kind": "fixed", "value": "x", "length": 4}}}, "fields.user.length", "no such input"),
        ({"tags": {"lantau:stack": "x"}}, "tags.lantau:stack", "not for the program to set"),
        ({"tags": {"team": 1}}, "tags.team", "must be a string"),
        ({"tags": {"team": "a;b"}}, "tags.team", "letters, digits, spaces"),
        ({"tags": {f"t{n}": "" for n in range(17)}}, "tags", "at most 16"),
        ({"kmsKeyId": "a key"}, "kmsKeyId", "a KMS key id"),
    ],
)
def test_a_wrong_input_is_named_with_what_would_be_right(changes: Plain, path: str, words: str) -> None:
    found = failures(**changes)

    assert list(found) == [path]
    assert words in found[path]


def test_a_value_given_where_none_belongs_is_not_repeated() -> None:
    found = failures(fields={"password": {"kind": "fixed", "value": "hunter2hunter2"}})

    assert "hunter2" not in str(found)


def test_without_a_stack_any_owner_is_possible() -> None:
    assert not failures(stack=None, name="lantau/prod/x")


def test_unknown_values_pass() -> None:
    assert not failures(name=UNKNOWN, description=UNKNOWN, fields=UNKNOWN, epoch=UNKNOWN, tags=UNKNOWN)
    assert not failures(fields={"a": {"length": UNKNOWN}, "b": UNKNOWN}, tags={"team": UNKNOWN})


def test_epochs_only_go_up() -> None:
    assert failures(olds=checked(epoch=3), epoch=2) == {
        "epoch": "2 is behind the store, which is at 3; to rotate again, set 4"
    }
    assert not failures(olds=checked(epoch=3), epoch=5)


@pytest.mark.parametrize("change", [{"length": 64}, {"alphabet": "hex"}, {"prefix": "lk_"}, {"kind": "fixed"}])
def test_a_new_shape_of_a_field_asks_for_a_new_epoch(change: Plain) -> None:
    field: Plain = {"kind": "random", **change}
    if field["kind"] == "fixed":
        field["value"] = "x"
    found = failures(olds=checked(fields={"a": {}}), fields={"a": field})

    assert list(found.values()) == ["a change here makes a new value, which is a rotation; set epoch to 2 as well"]
    assert not failures(olds=checked(fields={"a": {}}), fields={"a": field}, epoch=2)


def test_another_name_begins_its_own_epochs() -> None:
    assert not failures(olds=checked(epoch=3), name="lantau/dev/x", epoch=1)


@pytest.mark.parametrize("alphabet", list(ALPHABETS))
def test_the_shortest_value_still_holds_128_bits(alphabet: str) -> None:
    letters = len(ALPHABETS[alphabet])

    assert least_length(alphabet) * math.log2(letters) >= 128 > (least_length(alphabet) - 1) * math.log2(letters)


def test_a_value_has_its_prefix_length_and_alphabet() -> None:
    made = Field(length=40, alphabet="hex", prefix="lk_").generate()

    assert made.startswith("lk_")
    assert len(made) == 43
    assert set(made[3:]) <= set(ALPHABETS["hex"])


def test_values_use_the_whole_alphabet() -> None:
    made = "".join(Field(length=256, alphabet="urlsafe").generate() for _ in range(20))

    assert set(made) == set(ALPHABETS["urlsafe"])


@pytest.mark.parametrize(
    "field",
    [
        Field(),
        Field(length=64, alphabet="hex", rotate=False),
        Field(prefix="lk_"),
        Field(kind="fixed", value="app"),
    ],
)
def test_a_tag_tells_the_shape_of_its_field(field: Field) -> None:
    assert Field.from_tag(field.to_tag(), "app") == field


@pytest.mark.parametrize("tag", ["", "random", "random length=9 alphabet=runes rotate=yes", "made by hand"])
def test_an_unreadable_tag_stands_for_the_default_shape(tag: str) -> None:
    assert Field.from_tag(tag, "x") == Field()


def test_values_are_kept_unless_rotated() -> None:
    fields = {"a": Field(), "b": Field(rotate=False), "user": Field(kind="fixed", value="new")}
    old = {"a": "1", "b": "2", "user": "old", "gone": "3"}

    kept, rotated = make_values(fields, old, rotate=False), make_values(fields, old, rotate=True)

    assert kept == {"a": "1", "b": "2", "user": "new"}
    assert rotated["a"] != "1"
    assert rotated["b"] == "2"

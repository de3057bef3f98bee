"""The stand-in for the random provider: what each resource takes and gives."""

import asyncio
import base64
import uuid
from collections.abc import Coroutine
from typing import Any, Never

import grpc  # type: ignore[import-untyped]
import pulumi_random
import pytest
from pulumi.runtime import rpc
from pulumi.runtime.proto import provider_pb2

from sandbox.host.random_provider import RandomProvider, read, write
from sandbox.host.random_values import KINDS, SPECIAL

Values = dict[str, Any]
SIGNATURE = "4dabf18193072939515e22adb298388d"


class RefusedError(Exception):
    """What the engine would see of an aborted call."""


class Context:
    async def abort(self, code: grpc.StatusCode, details: str) -> Never:
        raise RefusedError(details)


def call(made: Coroutine[Any, Any, Any]) -> Any:
    loop = asyncio.new_event_loop()  # asyncio.run would put away the loop that belongs to all tests
    try:
        return loop.run_until_complete(made)
    finally:
        loop.close()


def urn(kind: str) -> str:
    token = f"random:index/{kind[0].lower()}{kind[1:]}:{kind}"
    return f"urn:pulumi:dev::trial::lantau:business:Backend${token}::it"


def check(kind: str, **inputs: Any) -> tuple[Values, dict[str, str]]:
    request = provider_pb2.CheckRequest(urn=urn(kind), news=write(inputs))
    answer = call(RandomProvider().Check(request, Context()))
    return read(answer.inputs), {failure.property: failure.reason for failure in answer.failures}


def create(kind: str, **inputs: Any) -> tuple[str, Values]:
    """The id and the plain outputs, secrets marked as on the wire."""
    return _create(kind, inputs, preview=False)


def _create(kind: str, inputs: Values, *, preview: bool) -> tuple[str, Values]:
    checked, failures = check(kind, **inputs)
    assert not failures
    request = provider_pb2.CreateRequest(urn=urn(kind), properties=write(checked), preview=preview)
    answer = call(RandomProvider().Create(request, Context()))
    return answer.id, read(answer.properties)


def diff(kind: str, olds: Values, **inputs: Any) -> list[str]:
    checked, _ = check(kind, **inputs)
    request = provider_pb2.DiffRequest(urn=urn(kind), olds=write(olds), news=write(checked))
    answer = call(RandomProvider().Diff(request, Context()))
    changed = answer.changes == provider_pb2.DiffResponse.DIFF_SOME
    assert changed == bool(answer.replaces), "a change that does not replace cannot be made"
    return list(answer.replaces)


def adopt(kind: str, identifier: str) -> tuple[str, Values, Values]:
    request = provider_pb2.ReadRequest(urn=urn(kind), id=identifier)
    answer = call(RandomProvider().Read(request, Context()))
    return answer.id, read(answer.properties), read(answer.inputs)


SIMPLE: list[tuple[str, Values]] = [
    ("RandomId", {"byteLength": 4}),
    ("RandomPassword", {"length": 12}),
    ("RandomString", {"length": 12}),
    ("RandomPet", {}),
    ("RandomInteger", {"min": 1, "max": 6}),
    ("RandomUuid", {}),
    ("RandomShuffle", {"inputs": ["a", "b"]}),
]


def drawn(kind: str) -> tuple[str, ...]:
    """The outputs that are not inputs."""
    return KINDS[f"random:index/{kind[0].lower()}{kind[1:]}:{kind}"].outputs


@pytest.mark.parametrize(("kind", "inputs"), SIMPLE)
def test_inputs_and_outputs_are_those_of_the_sdk(kind: str, inputs: Values) -> None:
    resource, arguments = getattr(pulumi_random, kind), getattr(pulumi_random, f"{kind}Args")
    ours = KINDS[f"random:index/{kind[0].lower()}{kind[1:]}:{kind}"]
    assert set(ours.inputs) == {_camel(name) for name in vars(arguments) if isinstance(vars(arguments)[name], property)}
    of_the_sdk = {_camel(name) for name in vars(resource) if isinstance(vars(resource)[name], property)}
    assert set(ours.outputs) | set(ours.inputs) == of_the_sdk
    assert create(kind, **inputs, keepers={"a": "b"})[1]["keepers"] == {"a": "b"}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@pytest.mark.parametrize(("kind", "inputs"), SIMPLE)
def test_the_same_inputs_are_no_change_and_others_replace(kind: str, inputs: Values) -> None:
    _, outputs = create(kind, **inputs)
    plain = {
        name: value["value"] if isinstance(value, dict) and SIGNATURE in value else value
        for name, value in outputs.items()
    }
    assert diff(kind, plain, **inputs) == []
    assert diff(kind, plain, **inputs, keepers={"round": "2"}) == ["keepers"]


@pytest.mark.parametrize(("kind", "inputs"), SIMPLE)
def test_a_preview_draws_nothing(kind: str, inputs: Values) -> None:
    identifier, outputs = _create(kind, inputs, preview=True)
    assert identifier == ""
    for name in drawn(kind):
        value = outputs[name]
        assert (value["value"] if isinstance(value, dict) else value) == rpc.UNKNOWN


@pytest.mark.parametrize(("kind", "inputs"), [entry for entry in SIMPLE if entry[0] != "RandomInteger"])
def test_two_of_a_kind_differ(kind: str, inputs: Values) -> None:
    if kind == "RandomShuffle":
        inputs = {"inputs": [str(number) for number in range(50)]}
    assert create(kind, **inputs) != create(kind, **inputs)


def test_an_id_has_one_value_in_four_forms() -> None:
    identifier, outputs = create("RandomId", byteLength=6, prefix="node-")
    raw = base64.urlsafe_b64decode(identifier)
    assert len(raw) == 6
    assert outputs["hex"] == f"node-{raw.hex()}"
    assert outputs["dec"] == f"node-{int.from_bytes(raw, 'big')}"
    assert outputs["b64Url"] == f"node-{identifier}"
    assert outputs["b64Std"] == "node-" + base64.b64encode(raw).decode()


def test_a_password_is_secret_and_a_string_is_not() -> None:
    identifier, outputs = create("RandomPassword", length=30)
    assert identifier == "none"
    assert outputs["result"][SIGNATURE]
    assert len(outputs["result"]["value"]) == 30
    identifier, outputs = create("RandomString", length=30)
    assert outputs["result"] == identifier


def test_a_password_draws_at_least_what_it_must() -> None:
    minimums = {"minLower": 2, "minUpper": 3, "minNumeric": 4, "minSpecial": 5}
    for _ in range(50):
        text = create("RandomString", length=14, **minimums)[1]["result"]
        assert sum(character.islower() for character in text) == 2
        assert sum(character.isupper() for character in text) == 3
        assert sum(character.isdigit() for character in text) == 4
        assert sum(character in SPECIAL for character in text) == 5


@pytest.mark.parametrize(
    ("flags", "allowed"),
    [
        ({"special": False, "upper": False, "lower": False}, "0123456789"),
        ({"lower": False, "upper": False, "number": False, "overrideSpecial": "_-"}, "_-"),
        ({"lower": False, "numeric": False, "special": False}, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ],
)
def test_classes_that_are_off_are_not_drawn_from(flags: Values, allowed: str) -> None:
    assert set(create("RandomString", length=200, **flags)[1]["result"]) <= set(allowed)


@pytest.mark.parametrize(
    ("inputs", "shape"),
    [({}, "w-w"), ({"length": 1}, "w"), ({"length": 4, "separator": "."}, "w.w.w.w"), ({"prefix": "x"}, "x-w-w")],
)
def test_a_pet_has_as_many_words_as_asked_for(inputs: Values, shape: str) -> None:
    identifier, outputs = create("RandomPet", **inputs)
    separator = inputs.get("separator", "-")
    words = identifier.split(separator)
    assert len(words) == len(shape.split(separator))
    assert words[0] == "x" or "prefix" not in inputs
    assert outputs["separator"] == separator


def test_an_integer_lies_within_its_bounds_and_a_seed_repeats_it() -> None:
    drawn = {create("RandomInteger", min=-1, max=1)[1]["result"] for _ in range(100)}
    assert drawn == {-1, 0, 1}
    seeded = {create("RandomInteger", min=0, max=10**9, seed="s")[0] for _ in range(3)}
    assert len(seeded) == 1


@pytest.mark.parametrize(("count", "length"), [(None, 3), (0, 0), (2, 2), (7, 7)])
def test_a_shuffle_has_as_many_results_as_asked_for(count: int | None, length: int) -> None:
    inputs = {"inputs": ["a", "b", "c"]} | ({} if count is None else {"resultCount": count})
    results = create("RandomShuffle", **inputs)[1]["results"]
    assert len(results) == length
    assert set(results[:3]) <= {"a", "b", "c"}
    if length >= 3:
        assert sorted(results[:3]) == ["a", "b", "c"]


def test_a_uuid_is_one() -> None:
    identifier, outputs = create("RandomUuid")
    assert str(uuid.UUID(identifier)) == outputs["result"] == identifier


@pytest.mark.parametrize(
    ("kind", "inputs", "property_", "reason"),
    [
        ("RandomId", {}, "byteLength", "is missing; it must be a whole number"),
        ("RandomId", {"byteLength": "4"}, "byteLength", "must be a whole number"),
        ("RandomId", {"byteLength": 4.5}, "byteLength", "must be a whole number"),
        ("RandomId", {"byteLength": 0}, "byteLength", "is 0 and must be at least 1"),
        (
            "RandomId",
            {"byteLength": 4, "size": 1},
            "size",
            "is not an input; the inputs are byteLength, keepers, prefix",
        ),
        ("RandomString", {"length": 2, "minUpper": 3}, "length", "is 2, less than the 3 that the minimums add up to"),
        ("RandomString", {"length": 2, "minUpper": -1}, "minUpper", "is -1 and must be at least 0"),
        ("RandomString", {"length": 2, "upper": False, "minUpper": 1}, "minUpper", "is 1, but upper is false"),
        (
            "RandomString",
            {"length": 2, "number": True, "numeric": False},
            "number",
            "contradicts numeric; leave it out",
        ),
        ("RandomPassword", {"length": 2, "special": "yes"}, "special", "must be true or false"),
        ("RandomInteger", {"min": 2, "max": 1}, "min", "is 2, more than max, which is 1"),
        ("RandomShuffle", {"inputs": "a"}, "inputs", "must be a list"),
        ("RandomShuffle", {"inputs": [], "resultCount": -1}, "resultCount", "is -1 and must be at least 0"),
        ("RandomPet", {"length": 0}, "length", "is 0 and must be at least 1"),
        ("RandomPet", {"keepers": "x"}, "keepers", "must be a map of texts"),
    ],
)
def test_inputs_that_make_no_sense_are_named(kind: str, inputs: Values, property_: str, reason: str) -> None:
    assert check(kind, **inputs)[1] == {property_: reason}


def test_no_class_at_all_is_refused() -> None:
    off = dict.fromkeys(("lower", "upper", "numeric", "special"), False)
    assert "one of lower, upper, numeric, special must be true" in check("RandomString", length=3, **off)[1].values()


def test_values_that_are_not_known_yet_are_taken_as_right() -> None:
    checked, failures = check("RandomString", length=rpc.UNKNOWN, minUpper=3, keepers=rpc.UNKNOWN)
    assert not failures
    assert checked["length"] == rpc.UNKNOWN


@pytest.mark.parametrize(
    ("kind", "identifier", "expected"),
    [
        ("RandomId", "AQID", {"hex": "010203", "byteLength": 3}),
        ("RandomId", "n-,AQID", {"hex": "n-010203", "prefix": "n-"}),
        ("RandomString", "abc", {"result": "abc", "length": 3, "lower": True}),
        ("RandomInteger", "3,1,6", {"result": 3, "min": 1, "max": 6}),
        ("RandomUuid", "0F8FAD5B-D9CB-469F-A165-70867728950E", {"result": "0f8fad5b-d9cb-469f-a165-70867728950e"}),
    ],
)
def test_what_an_id_tells_can_be_imported(kind: str, identifier: str, expected: Values) -> None:
    _, outputs, inputs = adopt(kind, identifier)
    assert expected.items() <= outputs.items()
    assert diff(kind, outputs, **inputs) == []


def test_an_imported_password_stays_secret() -> None:
    identifier, outputs, inputs = adopt("RandomPassword", "hunter2")
    assert identifier == "none"
    assert outputs["result"][SIGNATURE]
    assert "hunter2" not in str(inputs)


@pytest.mark.parametrize(
    ("kind", "identifier", "reason"),
    [
        ("RandomId", "!", "URL-safe base64"),
        ("RandomInteger", "3", "RESULT,MIN,MAX"),
        ("RandomUuid", "x", "must be a UUID"),
        ("RandomPet", "kind-wren", "cannot be imported"),
    ],
)
def test_an_id_that_tells_nothing_is_refused(kind: str, identifier: str, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        adopt(kind, identifier)


def test_what_is_in_the_state_is_read_back_unchanged() -> None:
    state = write({"result": "abc", "length": 3})
    request = provider_pb2.ReadRequest(urn=urn("RandomString"), id="abc", properties=state, inputs=write({"length": 3}))
    answer = call(RandomProvider().Read(request, Context()))
    assert (answer.id, answer.properties, answer.inputs) == ("abc", state, write({"length": 3}))


def test_an_unknown_resource_is_named_with_those_that_exist() -> None:
    with pytest.raises(
        RefusedError, match=r"has no random:index/randomBytes:RandomBytes; it has RandomId, RandomInteger"
    ):
        check("RandomBytes", length=3)

"""`python -m sandbox.host.random_provider [--flags] ENGINE_ADDRESS`: stands in for Pulumi's random provider.

It takes the inputs and gives the outputs of the real one, with two differences: `bcryptHash` of a password is left out,
since hashing would need one more dependency, and a `seed` repeats a value without repeating the real provider's.
Values are drawn once, at creation; any change of an input replaces the resource.
"""

# ruff: noqa: ARG002, N802 - names and arguments are those of the protocol

import asyncio
from collections.abc import Mapping
from importlib import metadata
from typing import Any, Final, NoReturn

from sandbox.host import lifetime

if __name__ == "__main__":
    lifetime.quiet_interrupts()

import grpc  # type: ignore[import-untyped]
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime import rpc
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from sandbox.host.random_values import KINDS, Field, InvalidError, Kind, Made, Values

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a word of the protocol
"""How the protocol marks a secret: a map with SECRET under SIGNATURE and the value under `value`."""
_TYPES: Final = {int: "a whole number", str: "a text", bool: "true or false", dict: "a map of texts", list: "a list"}


class RandomProvider(provider_pb2_grpc.ResourceProviderServicer):
    """The provider's side of the protocol."""

    async def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """The version of the SDK that is installed beside it: its inputs and outputs are the ones served here."""
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi-random"))

    async def CheckConfig(self, request: Any, context: Any) -> Any:
        """The provider has nothing to configure."""
        return provider_pb2.CheckResponse(inputs=request.news)

    async def DiffConfig(self, request: Any, context: Any) -> Any:
        """Nothing to configure, nothing to differ."""
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    async def Configure(self, request: Any, context: Any) -> Any:
        """Secret inputs stay with the engine, which marks the outputs of the same names."""
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    async def Check(self, request: Any, context: Any) -> Any:
        """Inputs with defaults filled in, or what is wrong with them."""
        inputs, failures = check(await self._kind(request.urn, context), read(request.news))
        return provider_pb2.CheckResponse(
            inputs=write(inputs),
            failures=[provider_pb2.CheckFailure(property=failure.name, reason=failure.reason) for failure in failures],
        )

    async def Diff(self, request: Any, context: Any) -> Any:
        """Any input that differs replaces the resource."""
        kind = await self._kind(request.urn, context)
        olds, news = read(request.olds), read(request.news)
        changed = sorted(name for name in kind.inputs if olds.get(name) != news.get(name))
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            replaces=changed,
            diffs=changed,
        )

    async def Create(self, request: Any, context: Any) -> Any:
        """Draw the values; in a preview they are not known yet."""
        kind = await self._kind(request.urn, context)
        inputs = read(request.properties)
        if request.preview:
            unknown = Made("", dict.fromkeys(kind.outputs, rpc.UNKNOWN))
            return provider_pb2.CreateResponse(properties=state(kind, inputs, unknown))
        made = kind.make(inputs)
        return provider_pb2.CreateResponse(id=made.id, properties=state(kind, inputs, made))

    async def Read(self, request: Any, context: Any) -> Any:
        """What was drawn exists nowhere else, so it is as the state says; without a state the id tells the value."""
        kind = await self._kind(request.urn, context)
        if request.properties.fields:
            return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)
        if kind.adopt is None:
            await _refuse(context, f"a {_name(request.urn)} cannot be imported: its id does not tell its value")
        try:
            given, made = kind.adopt(request.id)
        except InvalidError as error:
            await _refuse(context, str(error))
        inputs, _ = check(kind, given)
        return provider_pb2.ReadResponse(id=made.id, properties=state(kind, inputs, made), inputs=write(inputs))

    async def Update(self, request: Any, context: Any) -> Any:
        """Never asked for: every change is a replacement."""
        await _refuse(context, f"a {_name(request.urn)} is never changed in place")

    async def Delete(self, request: Any, context: Any) -> Any:
        """There is nothing outside the state to remove."""
        return empty_pb2.Empty()

    async def Cancel(self, request: Any, context: Any) -> Any:
        """Nothing here takes long enough to be cancelled."""
        return empty_pb2.Empty()

    async def _kind(self, urn: str, context: Any) -> Kind:
        token = urn.split("::")[2].rpartition("$")[2]
        if token not in KINDS:
            known = ", ".join(sorted(known.rpartition(":")[2] for known in KINDS))
            await _refuse(context, f"the sandbox's random provider has no {token}; it has {known}")
        return KINDS[token]


async def _refuse(context: Any, text: str) -> NoReturn:
    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
    raise AssertionError  # abort never returns


def _name(urn: str) -> str:
    return urn.split("::")[2].rpartition(":")[2]


def check(kind: Kind, given: Values) -> tuple[Values, list[InvalidError]]:
    """Inputs with defaults, and everything that is wrong with them. A value that is not known yet is taken as right."""
    failures = [
        InvalidError(name, f"is not an input; the inputs are {', '.join(sorted(kind.inputs))}")
        for name in sorted(set(given) - set(kind.inputs))
    ]
    inputs = {name: value for name, value in given.items() if name in kind.inputs}
    if "number" in kind.inputs and "number" in inputs:  # the old name of the same flag
        inputs.setdefault("numeric", inputs["number"])
    for name, field in kind.inputs.items():
        if name not in inputs and field.required:
            failures.append(InvalidError(name, f"is missing; it must be {_TYPES[field.type]}"))
        elif name not in inputs and field.default is not None:
            inputs[name] = field.default
        elif name in inputs and not _fits(inputs[name], field):
            failures.append(InvalidError(name, f"must be {_TYPES[field.type]}"))
    if not failures:
        try:
            kind.check(inputs)
        except InvalidError as failure:
            failures.append(failure)
    return inputs, failures


def _fits(value: Any, field: Field) -> bool:
    return value == rpc.UNKNOWN or type(value) is field.type


def state(kind: Kind, inputs: Values, made: Made) -> struct_pb2.Struct:
    """The outputs of a resource: its inputs and what was drawn, secrets marked."""
    outputs = {
        name: {SIGNATURE: SECRET, "value": value} if name in kind.secret else value
        for name, value in made.outputs.items()
    }
    return write(inputs | outputs)


def read(properties: struct_pb2.Struct) -> Values:
    """Properties as plain Python: whole numbers as int, nulls and the engine's own keys left out."""
    plain: Values = _whole(json_format.MessageToDict(properties))
    return {name: value for name, value in plain.items() if value is not None and not name.startswith("__")}


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value


def write(values: Values) -> struct_pb2.Struct:
    """Plain Python as properties."""
    properties = struct_pb2.Struct()
    properties.update(values)
    return properties


def main() -> None:
    """Entry of the process. The arguments, flags and the engine's address, are not needed: nothing is logged."""
    asyncio.run(
        lifetime.serve(
            lambda server: provider_pb2_grpc.add_ResourceProviderServicer_to_server(RandomProvider(), server)
        )
    )


if __name__ == "__main__":
    main()

"""Runs a piece of a Pulumi program without an engine and keeps every registration, options included.

recorded = record(lambda: Baseline("baseline", args))
assert recorded.one("kubernetes:core/v1:Namespace", "baseline-lantau-batch").protect
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime import mocks as pulumi_mocks
from pulumi.runtime import rpc
from pulumi.runtime.proto import resource_pb2

PROJECT: Final = "lantau"
STACK: Final = "unit"
STACK_TYPE: Final = "pulumi:pulumi:Stack"


class Unknown:
    """A value that is only known after an update; seen in recordings made with `preview=True`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()

Outputs = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]
"""Outputs beside the inputs that a resource gets: called with type, logical name and inputs."""

Invokes = Mapping[str, Mapping[str, Any]]
"""What a function of a provider answers, by token."""


@dataclass(frozen=True)
class Timeouts:
    """Custom time-outs as registered; an empty string where none was set."""

    create: str
    update: str
    delete: str


@dataclass(frozen=True)
class Resource:
    """One registration. `inputs` are camelCase as a provider gets them, with secrets unwrapped."""

    type: str
    name: str
    urn: str
    custom: bool
    inputs: Mapping[str, Any]
    secrets: frozenset[str]
    """Inputs that hold something secret: the SDK marks the whole top-level input."""
    parent: str
    """URN of the parent; the stack's own when the resource has none."""
    provider: str
    """Reference of the explicit provider (its URN, "::", its id); empty when there is none."""
    protect: bool
    """As it reaches the engine: what the parent has comes down."""
    retain_on_delete: bool
    depends_on: frozenset[str]
    """URNs; a component stands for itself and its children."""
    ignore_changes: tuple[str, ...]
    delete_before_replace: bool
    timeouts: Timeouts
    aliases: int
    import_id: str

    @property
    def kubernetes_name(self) -> str:
        """`metadata.name` of a Kubernetes object; empty when it has none."""
        return str(self.inputs.get("metadata", {}).get("name", ""))

    @property
    def namespace(self) -> str:
        """`metadata.namespace` of a Kubernetes object; empty when it has none."""
        return str(self.inputs.get("metadata", {}).get("namespace", ""))


@dataclass(frozen=True)
class Invoke:
    """One call of a provider's function."""

    token: str
    args: Mapping[str, Any]


@dataclass
class Recorded:
    """What a program registered, in the order of arrival, which is not the order of the source."""

    resources: list[Resource] = field(default_factory=list)
    outputs_registered: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Outputs by URN of the component that registered them."""
    invokes: list[Invoke] = field(default_factory=list)
    result: Any = None
    """What the program returned."""

    def of_type(self, token: str) -> list[Resource]:
        """Resources of one type, sorted by name."""
        return sorted((found for found in self.resources if found.type == token), key=lambda found: found.name)

    def one(self, token: str, name: str | None = None) -> Resource:
        """The only resource of a type (and name). AssertionError lists what there is instead."""
        found = [each for each in self.of_type(token) if name in (None, each.name)]
        known = sorted((each.type, each.name) for each in self.resources)
        assert len(found) == 1, f"{len(found)} resources of type {token} and name {name}; there are {known}"
        return found[0]

    def kubernetes(self, kind: str, name: str, namespace: str | None = None) -> Resource:
        """The only Kubernetes object of a kind (last part of the token) and `metadata.name`."""
        found = [
            each
            for each in self.resources
            if each.type.rpartition(":")[2] == kind
            and each.kubernetes_name == name
            and namespace in (None, each.namespace)
        ]
        known = sorted((each.type, each.namespace, each.kubernetes_name) for each in self.resources if each.custom)
        assert len(found) == 1, f"{len(found)} objects of kind {kind} and name {name}; there are {known}"
        return found[0]

    def children(self, parent: Resource) -> list[Resource]:
        """Direct children, sorted by type and name."""
        found = (each for each in self.resources if each.parent == parent.urn)
        return sorted(found, key=lambda each: (each.type, each.name))

    def components(self) -> list[Resource]:
        """Every component, sorted by type and name."""
        found = (each for each in self.resources if not each.custom)
        return sorted(found, key=lambda each: (each.type, each.name))


class _Monitor(pulumi_mocks.MockMonitor):
    """Answers a registration with its own inputs, as a provider that changes nothing would."""

    def __init__(self, outputs: Outputs | None, invokes: Invokes) -> None:
        super().__init__(_NoMocks())
        self.recorded = Recorded()
        self._outputs = outputs
        self._invokes = invokes

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """As the engine makes it: the whole chain of parent types, the stack's left out."""
        chain = parent.split("::")[2] if parent else STACK_TYPE
        qualified = type_ if chain == STACK_TYPE else f"{chain}${type_}"
        return f"urn:pulumi:{STACK}::{PROJECT}::{qualified}::{name}"

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 the name of the call
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == STACK_TYPE:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        if any(known.urn == urn for known in self.recorded.resources):
            raise AssertionError(f"{request.type} {request.name} is registered twice: the engine would refuse it")
        inputs, secrets = _plain(rpc.deserialize_properties(request.object, keep_unknowns=True))
        self.recorded.resources.append(
            Resource(
                type=request.type,
                name=request.name,
                urn=urn,
                custom=request.custom,
                inputs=inputs,
                secrets=frozenset(secrets),
                parent=request.parent,
                provider=request.provider,
                protect=request.protect,
                retain_on_delete=request.retainOnDelete,
                depends_on=frozenset(request.dependencies),
                ignore_changes=tuple(request.ignoreChanges),
                delete_before_replace=request.deleteBeforeReplace,
                timeouts=Timeouts(
                    request.customTimeouts.create, request.customTimeouts.update, request.customTimeouts.delete
                ),
                aliases=len(request.aliases),
                import_id=request.importId,
            )
        )
        answer = struct_pb2.Struct()
        answer.CopyFrom(request.object)
        if self._outputs and request.custom:
            json_format.ParseDict({**_json(answer), **self._outputs(request.type, request.name, inputs)}, answer)
        known_id = request.custom and not pulumi.runtime.is_dry_run()
        return resource_pb2.RegisterResourceResponse(
            urn=urn, id=f"{request.name}-id" if known_id else "", object=answer
        )

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 the name of the call
        outputs, _ = _plain(rpc.deserialize_properties(request.outputs, keep_unknowns=True))
        if request.urn.split("::")[2] != STACK_TYPE:
            self.recorded.outputs_registered[request.urn] = outputs
        return empty_pb2.Empty()

    def Invoke(self, request: Any) -> Any:  # noqa: N802 the name of the call
        args, _ = _plain(rpc.deserialize_properties(request.args, keep_unknowns=True))
        self.recorded.invokes.append(Invoke(request.tok, args))
        answer = struct_pb2.Struct()
        json_format.ParseDict(dict(self._invokes.get(request.tok, {})), answer)
        fields: dict[str, Any] = {"return": answer}  # a keyword of Python
        return resource_pb2.ResourceInvokeResponse(**fields)


class _NoMocks(pulumi_mocks.Mocks):
    """The monitor answers by itself."""

    def call(self, args: pulumi_mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise NotImplementedError

    def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        raise NotImplementedError


def record(
    program: Callable[[], Any],
    *,
    preview: bool = False,
    outputs: Outputs | None = None,
    invokes: Invokes | None = None,
) -> Recorded:
    """Run `program` to its end, with everything it started, and give what it registered.

    With `preview=True` an id, and an output that is no input, is unknown, as on a cluster where nothing exists yet.
    Without it, `outputs` gives what a provider would add. An exception of the program, also one inside an
    apply, is raised here.
    """
    monitor = _Monitor(outputs, invokes or {})
    loop = asyncio.new_event_loop()
    # What fails in the program is raised by `run`. The SDK leaves further futures with the same exception; when these
    # are collected, they print its traceback in the middle of another test.
    loop.set_exception_handler(lambda _loop, _context: None)
    asyncio.set_event_loop(loop)
    try:
        pulumi.runtime.set_mocks(monitor.mocks, project=PROJECT, stack=STACK, preview=preview, monitor=monitor)

        @pulumi.runtime.test  # type: ignore[untyped-decorator]
        def run() -> None:
            monitor.recorded.result = program()

        run()
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        asyncio.set_event_loop(None)
        pulumi.runtime.settings.reset_options()
    return monitor.recorded


def _json(struct: struct_pb2.Struct) -> dict[str, Any]:
    return dict(json_format.MessageToDict(struct))


def _plain(value: Any, path: str = "") -> tuple[Any, set[str]]:
    """A deserialised value without Pulumi's wrappers, and the paths that were secret."""
    if isinstance(value, dict) and value.get(rpc._special_sig_key) == rpc._special_secret_sig:
        inner, _ = _plain(value["value"], path)
        return inner, {path}
    if isinstance(value, pulumi.output.Unknown) or value == rpc.UNKNOWN:
        return UNKNOWN, set()
    if isinstance(value, dict):
        parts = {key: _plain(item, f"{path}.{key}" if path else str(key)) for key, item in value.items()}
        return {key: part for key, (part, _) in parts.items()}, set().union(*(found for _, found in parts.values()))
    if isinstance(value, list):
        items = [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
        return [item for item, _ in items], set().union(*(found for _, found in items))
    if isinstance(value, float) and value.is_integer():
        return int(value), set()
    return value, set()

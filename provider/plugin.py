"""The provider: routes the engine's calls to the kinds of resources and functions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pulumi.provider.experimental import provider as api
from pulumi.provider.experimental.property_value import PropertyValue

from provider.config import ProviderConfig, check_config, read_config
from provider.errors import ProviderError
from provider.inputs import did_you_mean
from provider.kube.resource import NodeTaint
from provider.preflight.function import TOKEN as PREFLIGHT
from provider.preflight.function import preflight
from provider.resource import Change, Differences, ResourceKind, Say
from provider.store.client import SecretStore
from provider.store.resource import ManagedSecret
from provider.values import holds_unknown, plain_map, property_map

VERSION = "0.1.0"
SCHEMA = Path(__file__).with_name("schema.json")

Result = TypeVar("Result")

_KINDS = {Change.UPDATE: api.PropertyDiffKind.UPDATE, Change.REPLACE: api.PropertyDiffKind.UPDATE_REPLACE}


class LantauProvider(api.Provider):
    """One configured provider. Blocking work runs in threads, so that resources are worked on side by side."""

    def __init__(self, sink: Callable[[str, str, str], None] | None = None) -> None:
        self._sink = sink
        self._threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="lantau")
        self._config = ProviderConfig()
        self._stores: dict[str | None, SecretStore] = {}
        self._kinds = self._make_kinds()

    def _make_kinds(self) -> dict[str, ResourceKind]:
        kinds: list[ResourceKind] = [ManagedSecret(self._config, self._store), NodeTaint(self._config)]
        return {kind.token: kind for kind in kinds}

    def _store(self, region: str | None) -> SecretStore:
        return self._stores.setdefault(region, SecretStore(region))

    def _kind(self, token: str) -> ResourceKind:
        # The SDK takes the type from the URN, which holds the types of all parents.
        token = token.rpartition("$")[2]
        if token not in self._kinds:
            raise ProviderError(f"there is no resource {token}; {did_you_mean(token, self._kinds)}")
        return self._kinds[token]

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _say(self, urn: str) -> Say:
        return Say(self._sink, urn)

    async def get_schema(self, request: api.GetSchemaRequest) -> api.GetSchemaResponse:  # noqa: ARG002
        """The package's schema, as `pulumi package get-schema` shows it."""
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        return api.GetSchemaResponse(json.dumps({**schema, "version": VERSION}))

    async def check_config(self, request: api.CheckRequest) -> api.CheckResponse:
        """Failures in the provider's own inputs."""
        return api.CheckResponse(request.new_inputs, check_config(plain_map(request.new_inputs)))

    async def diff_config(self, request: api.DiffRequest) -> api.DiffResponse:  # noqa: ARG002
        """Never a replacement: that would delete and remake what another region or context holds.

        A secret's own region and a taint's own cluster are part of their state and are compared there. Whether anything
        changed is left open for the engine to find out: the SDK passes True on as the number that means "no changes",
        and the provider would go on with its old configuration.
        """
        return api.DiffResponse()

    async def configure(self, request: api.ConfigureRequest) -> api.ConfigureResponse:
        """Remember where to act. Nothing is contacted yet."""
        self._config = read_config(plain_map(request.args))
        self._kinds = self._make_kinds()
        # The engine keeps secret inputs to itself and marks the outputs of the same names.
        return api.ConfigureResponse(supports_preview=True)

    async def invoke(self, request: api.InvokeRequest) -> api.InvokeResponse:
        """Call a function."""
        if request.tok != PREFLIGHT:
            raise ProviderError(f"there is no function {request.tok}; {did_you_mean(request.tok, [PREFLIGHT])}")
        args = plain_map(request.args)
        answer, failures = await self._run(lambda: preflight(self._config, args))
        return api.InvokeResponse(property_map(answer), failures)

    async def check(self, request: api.CheckRequest) -> api.CheckResponse:
        """Inputs with defaults, and failures."""
        kind = self._kind(request.type)
        checked, failures = kind.check(request.urn, plain_map(request.old_inputs), plain_map(request.new_inputs))
        return api.CheckResponse(property_map(checked), failures)

    async def diff(self, request: api.DiffRequest) -> api.DiffResponse:
        """What would change."""
        kind = self._kind(request.type)
        found = kind.diff(plain_map(request.old_state), plain_map(request.new_inputs))
        return _diff_response(found)

    async def create(self, request: api.CreateRequest) -> api.CreateResponse:
        """Make a resource, or say what it would be."""
        kind, news = self._kind(request.type), plain_map(request.properties)
        if request.preview:
            return api.CreateResponse("", property_map(kind.preview_create(news)))
        _refuse_unknown(request.name, news)
        state = await self._run(lambda: kind.create(news, self._say(request.urn)))
        return api.CreateResponse(state.id, property_map(state.outputs))

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        """A resource as it stands; an empty id when it is gone."""
        kind = self._kind(request.type)
        state, inputs = plain_map(request.properties), plain_map(request.inputs)
        found = await self._run(lambda: kind.read(request.resource_id, state, inputs, self._say(request.urn)))
        if found is None:
            return api.ReadResponse("")
        return api.ReadResponse(found.id, property_map(found.outputs), property_map(found.inputs))

    async def update(self, request: api.UpdateRequest) -> api.UpdateResponse:
        """Change a resource in place, or say what it would be."""
        kind = self._kind(request.type)
        state, news = plain_map(request.olds), plain_map(request.news)
        if request.preview:
            return api.UpdateResponse(property_map(kind.preview_update(state, news)))
        _refuse_unknown(request.name, news)
        outputs = await self._run(lambda: kind.update(request.resource_id, state, news, self._say(request.urn)))
        return api.UpdateResponse(property_map(outputs))

    async def delete(self, request: api.DeleteRequest) -> None:
        """Remove a resource."""
        kind, state = self._kind(request.type), plain_map(request.properties)
        await self._run(lambda: kind.delete(request.resource_id, state, self._say(request.urn)))


def _diff_response(found: Differences) -> api.DiffResponse:
    replaces = sorted(name for name, change in found.changes.items() if change is Change.REPLACE)
    return api.DiffResponse(
        changes=bool(found.changes),
        replaces=replaces,
        diffs=sorted(found.changes),
        detailed_diff={
            name: api.PropertyDiff(_KINDS[change], input_diff=False) for name, change in found.changes.items()
        },
    )


def _refuse_unknown(name: str, news: dict[str, PropertyValue]) -> None:
    if holds_unknown(news):
        raise ProviderError(f"{name} has inputs whose values are not known; give them plain values")

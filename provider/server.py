"""Serves the provider to the engine; errors reach the user as sentences, never as tracebacks."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2_grpc

from provider.errors import ProviderError
from provider.plugin import VERSION, LantauProvider

HERE: Final = Path(__file__).resolve().parent
LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""Bytes; what the engine itself allows."""
PARENT_CHECK: Final = 2.0
"""Seconds between two looks at whether the engine's side still lives."""

_SEVERITIES: Final = {"warning": engine_pb2.WARNING, "info": engine_pb2.INFO}
_METHODS: Final = (
    "GetSchema", "CheckConfig", "DiffConfig", "Configure", "Invoke",
    "Check", "Diff", "Create", "Read", "Update", "Delete",
)  # fmt: skip


def describe_fault(error: BaseException) -> str:
    """A fault of ours in one line: its type and place. The text of the error stays out, since it may quote a value."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(HERE)] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "an unknown place"
    return f"fault in the lantau provider: {type(error).__name__} at {place}; please report it"


def _plain_errors(name: str) -> Callable[..., Awaitable[Any]]:
    inner = getattr(ProviderServicer, name)

    async def method(self: ProviderServicer, request: Any, context: Any) -> Any:
        try:
            return await inner(self, request, context)
        except Exception as error:  # noqa: BLE001 - whatever it is, the user gets one line
            # The base class wraps what the provider raised and appends a traceback to its text.
            cause = error.__context__ or error
        text = str(cause) if isinstance(cause, ProviderError) else describe_fault(cause)
        return await context.abort(grpc.StatusCode.UNKNOWN, text)

    method.__name__ = name
    return method


class Servicer(ProviderServicer):
    """The SDK's servicer with errors made plain."""


for _name in _METHODS:
    setattr(Servicer, _name, _plain_errors(_name))


class EngineLog:
    """Sends lines to the engine, which shows them beside the resource. Losing one is never an error."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._stub: Any = None

    def __call__(self, severity: str, message: str, urn: str) -> None:
        """Send one line."""
        try:
            if self._stub is None:
                self._stub = engine_pb2_grpc.EngineStub(grpc.insecure_channel(self._address))
            self._stub.Log(engine_pb2.LogRequest(severity=_SEVERITIES[severity], message=message, urn=urn), timeout=5)
        except grpc.RpcError:
            return


async def _parent_gone(parent: int) -> None:
    """Returns once the process that started us has ended: an engine that was killed cannot stop us itself."""
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_CHECK)


async def serve(arguments: list[str]) -> None:
    """Listen on a loopback port, tell it on stdout, and serve until stopped."""
    parent = os.getppid()
    engine = next((argument for argument in arguments if not argument.startswith("-")), "")
    size = LARGEST_MESSAGE
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", size), ("grpc.max_send_message_length", size)]
    )
    provider = LantauProvider(EngineLog(engine) if engine else None)
    servicer = Servicer(arguments, VERSION, provider, engine_address=engine)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    waits = [asyncio.ensure_future(server.wait_for_termination()), asyncio.ensure_future(_parent_gone(parent))]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    await server.stop(grace=0)


def main(arguments: list[str]) -> None:
    """Entry of the plugin process."""
    # Ctrl-C reaches the whole process group; the engine answers it, and waits for what is under way to be written down.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(serve(arguments))

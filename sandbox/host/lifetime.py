"""A process that serves the engine: how it starts, and how it ends whatever becomes of the engine."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc.aio  # type: ignore[import-untyped]

LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""Bytes; what the engine itself allows."""
ENGINE_CHECK: Final = 0.5
"""Seconds between two looks at whether the engine still lives."""
LAST_CALLS: Final = 1.0
"""Seconds for calls to return by themselves once `close` has ended their cause: gRPC prints a traceback for each that
it has to cut off.
"""
MESSAGE_OPTIONS: Final = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
)


def quiet_interrupts() -> None:
    """Until `serve` watches for it, an interrupt ends the process in silence rather than with a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


async def serve(register: Callable[[Any], None], close: Callable[[], Awaitable[None]] | None = None) -> None:
    """Listen on a loopback port, tell it on stdout, and serve until a signal comes or the engine is gone.

    `register` adds the services to the gRPC server; `close` runs before the server stops.
    """
    server = grpc.aio.server(options=MESSAGE_OPTIONS)
    register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    watch = asyncio.create_task(_engine_gone(ended))
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await ended.wait()
    watch.cancel()
    if close is not None:
        await close()
    await server.stop(LAST_CALLS)


async def _engine_gone(ended: asyncio.Event) -> None:
    # An engine that was killed cannot say so; its children are then handed to another parent.
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(ENGINE_CHECK)
    ended.set()

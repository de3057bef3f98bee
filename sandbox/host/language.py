"""`python -m sandbox.host.language [--flags] [ENGINE ADDRESS]`: the language host that the engine starts for Python.

It prints the port that it listens on as its first line, serves until the engine closes it or is gone, and takes every
program that it started with it.
"""

import signal

if __name__ == "__main__":
    # Until the loop watches for it, an interrupt ends the process in silence rather than with a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Final

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]
from pulumi.runtime.proto import language_pb2_grpc

from sandbox.host.service import LanguageHost

LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""Bytes; what the engine itself allows."""
ENGINE_CHECK: Final = 0.5
"""Seconds between two looks at whether the engine still lives."""
MESSAGE_OPTIONS: Final = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
)


async def serve(engine_address: str) -> None:
    """Listen on a loopback port, tell it on stdout, and serve until a signal comes or the engine is gone."""
    host = LanguageHost(engine_address)
    server = grpc.aio.server(options=MESSAGE_OPTIONS)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    watch = asyncio.create_task(engine_gone(ended))
    await ended.wait()
    watch.cancel()
    await host.children.stop()
    await server.stop(grace=0)


async def engine_gone(ended: asyncio.Event) -> None:
    """Sets `ended` once the process that started this one is no more: an engine that was killed cannot say so."""
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(ENGINE_CHECK)
    ended.set()


def main(arguments: Sequence[str]) -> None:
    """Entry of the process. The engine puts flags for logging and tracing before its address; none concerns us."""
    address = arguments[-1] if arguments and not arguments[-1].startswith("-") else ""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(address))


if __name__ == "__main__":
    main(sys.argv[1:])

"""`python -m sandbox.host.language [--flags] [ENGINE ADDRESS]`: the language host that the engine starts for Python.

It prints the port that it listens on as its first line, serves until the engine closes it or is gone, and takes every
program that it started with it.
"""

import asyncio
import sys
from collections.abc import Sequence

from sandbox.host import lifetime

if __name__ == "__main__":
    lifetime.quiet_interrupts()

from pulumi.runtime.proto import language_pb2_grpc

from sandbox.host.service import LanguageHost


async def serve(engine_address: str) -> None:
    """Serve until the engine closes this process or is gone."""
    host = LanguageHost(engine_address)
    await lifetime.serve(
        lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server), host.children.stop
    )


def main(arguments: Sequence[str]) -> None:
    """Entry of the process. The engine puts flags for logging and tracing before its address; none concerns us."""
    address = arguments[-1] if arguments and not arguments[-1].startswith("-") else ""
    asyncio.run(serve(address))


if __name__ == "__main__":
    main(sys.argv[1:])

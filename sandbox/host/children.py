"""Programs that the host starts: each in a process group of its own, none of them left behind.

The engine interrupts the host's group when it closes. A child in that group would answer with a KeyboardInterrupt
traceback, so children have groups of their own and are ended by SIGTERM.
"""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from sandbox.errors import SandboxError
from sandbox.host.environment import PythonEnvironment

TETHER: Final = Path(__file__).with_name("tether.py")
GRACE: Final = 3.0
"""Seconds between SIGTERM and SIGKILL; the engine kills the host itself after five."""
DRAIN: Final = 1.0
"""Seconds to wait for output after the child has ended: something that it started may hold the pipe open for ever."""
_CHUNK: Final = 64 * 1024


class Child:
    """One running program. asyncio's own kind will not do: it counts one as running while its pipes are open."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        threading.Thread(target=self._watch, name=f"child {process.pid}", daemon=True).start()

    def _watch(self) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
            self._loop.call_soon_threadsafe(self._ended.set)

    @property
    def pid(self) -> int:
        """The process, which is also the leader of its group."""
        return self._process.pid

    async def wait(self) -> int:
        """Its exit code; the negative number of the signal that ended it."""
        await self._ended.wait()
        return self._process.wait()

    async def output(self) -> AsyncGenerator[tuple[str, bytes]]:
        """What it prints, as it comes: `stdout` or `stderr` and the bytes; ends when it has ended."""
        # Without a bound, so that the pumps never wait for a slow reader and DRAIN measures the child's side only.
        queue: asyncio.Queue[tuple[str, bytes] | None] = asyncio.Queue()
        streams = {"stdout": self._process.stdout, "stderr": self._process.stderr}
        pumps = [asyncio.create_task(_pump(name, stream, queue)) for name, stream in streams.items() if stream]
        closing = asyncio.create_task(self._close(pumps, queue))
        try:
            while (item := await queue.get()) is not None:
                yield item
        finally:
            for task in (*pumps, closing):
                task.cancel()

    async def _close(self, pumps: Sequence["asyncio.Task[None]"], queue: "asyncio.Queue[Any]") -> None:
        await self._ended.wait()
        if pumps:
            await asyncio.wait(pumps, timeout=DRAIN)
        queue.put_nowait(None)

    async def stop(self) -> None:
        """End it and what it started in its group: SIGTERM, at most GRACE seconds, SIGKILL."""
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._ended.wait(), GRACE)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self._ended.wait()

    def _signal(self, number: signal.Signals) -> None:
        # The leader is not reaped yet, so its pid still names this group and no other.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)


class Children:
    """All running programs of a host."""

    def __init__(self) -> None:
        self._running: set[Child] = set()
        self._closed = False

    @contextlib.asynccontextmanager
    async def start(
        self,
        environment: PythonEnvironment,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        folder: str | None,
        *,
        piped: bool,
    ) -> AsyncIterator[Child]:
        """Run Python with these arguments in `folder`; whatever happens, it has ended when the context is left.

        `piped` catches its output for `Child.output`; otherwise it writes to the host's own. Raises SandboxError when
        it cannot be started.
        """
        if self._closed:
            raise SandboxError("the language host is ending")
        python = str(environment.python)
        command = [python, "-I", "-S", str(TETHER), str(os.getpid()), python, "-u", *arguments]
        sink = subprocess.PIPE if piped else None
        try:
            # The thread that forks is the one whose end the kernel takes for the host's: it must be the main one, which
            # runs the loop.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                env=environment.variables(variables),
                cwd=folder or None,
                process_group=0,
                bufsize=0,
            )
        except OSError as error:
            reason = error.strerror
            if error.errno == errno.E2BIG:
                reason = "its config and environment are larger than the system passes on (128 KiB each variable)"
            raise SandboxError(f"{python} could not be started in {folder or Path.cwd()}: {reason}") from error
        child = Child(process)
        self._running.add(child)
        try:
            yield child
        finally:
            try:
                await asyncio.shield(child.stop())
            finally:
                self._running.discard(child)

    async def stop(self) -> None:
        """End all of them; none can be started any more."""
        self._closed = True
        await asyncio.gather(*(child.stop() for child in list(self._running)))


async def _pump(name: str, pipe: IO[bytes], queue: "asyncio.Queue[Any]") -> None:
    stream = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), pipe
    )
    try:
        while chunk := await stream.read(_CHUNK):
            queue.put_nowait((name, chunk))
    finally:
        transport.close()

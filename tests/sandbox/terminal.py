"""A command on a terminal of its own, so that a test can press Ctrl-C as a person does."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# The terminal becomes the controlling one only when a session leader asks for it.
LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][A-Z0-9]|\r")


class Terminal:
    """`command` in the foreground of a new terminal; every process that comes of it carries the mark."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.mark = uuid.uuid4().hex
        self._printed = bytearray()
        self._master, slave = pty.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            self.process = subprocess.Popen(
                [sys.executable, "-IS", "-c", LAUNCH, *command],
                cwd=folder,
                env={**environment, "TERM": "xterm", "LANTAU_TEST_MARK": self.mark},
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def text(self) -> str:
        """What it printed, without marks for colours and positions."""
        return ESCAPES.sub("", self._printed.decode(errors="replace"))

    def wait_until(self, what: str, condition: Callable[[], object], timeout: float = 240.0) -> None:
        """Wait for a condition while the command runs; fail when it ends before, or after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not condition():
            ended = self.process.poll()
            assert ended is None, f"ended with {ended} before {what}:\n{self.text[-4000:]}"
            assert time.monotonic() < deadline, f"not within {timeout:.0f} s: {what}\n{self.text[-4000:]}"
            time.sleep(0.02)

    def press_ctrl_c(self) -> None:
        """What the key does: the terminal signals everybody in its foreground, or whoever reads keys himself does."""
        os.write(self._master, b"\x03")

    def kill(self) -> None:
        """End the whole group at once, without a chance to clean up."""
        os.killpg(self.process.pid, signal.SIGKILL)

    def end(self, timeout: float = 300.0, *, but: str = "/") -> int:
        """Wait for the end, of the command and of all that came of it; returns its exit code.

        A process of the program `but` may live on.
        """
        code = self.process.wait(timeout)
        deadline = time.monotonic() + 30
        while left := {pid: line for pid, line in self._left().items() if Path(line.split()[0]).name != but}:
            assert time.monotonic() < deadline, f"still there after the command: {left}"
            time.sleep(0.05)
        return code

    def close(self) -> None:
        """End what is left, and the terminal."""
        self._end_left()
        self.process.wait(30)
        self._reader.join(30)
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:  # nobody has the terminal open any more
                return
            if not data:
                return
            self._printed += data

    def _end_left(self) -> None:
        for pid in self._left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _left(self) -> dict[int, str]:
        found = {}
        for folder in Path("/proc").iterdir():
            try:
                environment = (folder / "environ").read_bytes() if folder.name.isdigit() else b""
                if f"LANTAU_TEST_MARK={self.mark}".encode() in environment:
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = line or "a process that is ending"
            except OSError:  # it has ended, or is another user's
                continue
        return found

"""One builder at a time on this machine, by a file lock that the kernel drops when its holders are gone."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_REMIND_SECONDS: Final = 60.0


@contextmanager
def exclusive(path: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock at `path` and yield its file descriptor; wait for another holder as long as that takes.

    `say` is told once a minute who is waited for. The descriptor is meant to be handed to the compiler: should the
    builder be killed, the lock lasts until its compiler has ended too: no second one writes where the first still does.
    Raises OSError when the folder cannot be written to or its file system knows no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait(descriptor, say)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _wait(descriptor: int, say: Callable[[str], None]) -> None:
    reminded = -_REMIND_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() - reminded >= _REMIND_SECONDS:
                reminded = time.monotonic()
                say(f"{_holder(descriptor)}; waiting until it has ended")
            time.sleep(0.2)
        else:
            return


def _holder(descriptor: int) -> str:
    pid = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    if not pid.isdigit():
        return "another build is running"
    if Path("/proc/self").exists() and not Path("/proc", pid).exists():
        return f"the compiler of an earlier build (process {pid}, which was killed) is still running"
    return f"another build is running (process {pid})"

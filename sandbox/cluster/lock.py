"""One command at a time per sandbox: a file lock that the kernel drops when its holder dies, however it dies."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.errors import SandboxError


@contextmanager
def exclusive(path: Path, wait: float = 180.0) -> Iterator[int]:
    """Hold the lock at `path` and yield its file descriptor; wait at most `wait` seconds for another holder.

    The holder may hand the descriptor to a child: the lock then lasts until the child has closed it too.
    Raises SandboxError, naming the holder, when the time is over.
    """
    deadline = time.monotonic() + wait
    descriptor = _acquire(path)
    while descriptor is None:
        if time.monotonic() >= deadline:
            raise SandboxError(
                f"another command still works on this sandbox ({_holder(path)}); wait until it has ended, or end it"
            )
        time.sleep(0.05)
        descriptor = _acquire(path)
    try:
        # The number is only for the message above, and a full disk must not keep `down` from its work.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(path: Path) -> int | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SandboxError(f"cannot make the lock file {path}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A lock on a file that was deleted meanwhile guards nothing: whoever comes next makes a new file.
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def _holder(path: Path) -> str:
    try:
        pid = path.read_text().strip()
    except OSError:
        pid = ""
    return f"process {pid}" if pid.isdigit() else "process unknown"

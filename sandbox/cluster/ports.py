"""Loopback ports: a contiguous block per sandbox, remembered, and a clear word on who sits on a port."""

import errno
import socket
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sandbox.errors import SandboxError

HOST = "127.0.0.1"
BLOCK = 10
DEFAULT_NAME = "sandbox"
DEFAULT_BASE = 36440
# Below the range from which Linux takes ports for outgoing connections (32768 and up), so that none lands in a block.
SEARCH = range(21440, 31440, BLOCK)


class Ports(NamedTuple):
    """The ports of one sandbox, in the order of its block."""

    etcd: int
    etcd_peer: int
    aws: int
    api: int
    controller_manager: int
    scheduler: int
    kwok: int
    external_secrets: int
    spare_1: int
    spare_2: int

    @classmethod
    def from_base(cls, base: int) -> "Ports":
        """The block that begins at `base`; SandboxError when it does not lie within 1024 to 65535."""
        if not 1024 <= base <= 65536 - BLOCK:
            raise SandboxError(f"base port {base} is out of range: choose one between 1024 and {65536 - BLOCK}")
        return cls(*range(base, base + BLOCK))


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def choose_base(name: str, identity: str, taken: Iterable[int] = ()) -> int:
    """A base port for a new sandbox: a block that is free now, for the default name the same one wherever possible.

    `identity` (its state folder) spreads the starts of the search, so that sandboxes made at the same moment do not
    meet; `taken` are bases that other sandboxes remember. Raises SandboxError when no block is free.
    """
    used = set(taken)
    start = zlib.crc32(identity.encode()) % len(SEARCH)
    searched = (SEARCH[(start + step) % len(SEARCH)] for step in range(len(SEARCH)))
    # The default one may be taken by the sandbox of another user, or of another XDG_STATE_HOME.
    for base in (DEFAULT_BASE, *searched) if name == DEFAULT_NAME else searched:
        if base not in used and all(is_free(port) for port in range(base, base + BLOCK)):
            return base
    raise SandboxError(f"no {BLOCK} free loopback ports in a row between {SEARCH.start} and {SEARCH.stop}")


def taken_message(port: int, purpose: str, name: str) -> str:
    """What to tell the user about a taken port: the port, who holds it, and the way out."""
    return (
        f"port {port} (wanted for {purpose}) is taken by {holder(port)}\n"
        f"end that process, or choose another block of ports: "
        f"python -m sandbox up --name {name} --base-port {port + 1000 - port % BLOCK}"
    )


def holder(port: int) -> str:
    """The process that holds a local port, as "etcd (process 123)"; a process of another user cannot be seen."""
    inodes = _inodes(port)
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and _holds(process, inodes):
            name = _read(process / "comm").strip() or "a process"
            return f"{name} (process {process.name})"
    return "a process of another user"


def _inodes(port: int) -> set[str]:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in _read(Path(table)).splitlines()[1:]:
            fields = line.split()
            # Any state counts: an outgoing connection may have been given this very port.
            if int(fields[1].rpartition(":")[2], 16) == port and fields[9] != "0":
                inodes.add(f"socket:[{fields[9]}]")
    return inodes


def _holds(process: Path, inodes: set[str]) -> bool:
    try:
        return any(str(descriptor.readlink()) in inodes for descriptor in (process / "fd").iterdir())
    except OSError:
        return False


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""

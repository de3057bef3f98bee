"""Is there room? Asked before half an hour of work, not after."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.errors import SandboxError

Free = Callable[[Path], int]
_MB: Final = 1_000_000


@dataclass(frozen=True)
class Need:
    """So many megabytes will be written below `path` for `purpose`; `variable` is what moves that folder elsewhere."""

    path: Path
    megabytes: float
    purpose: str
    variable: str


def free_bytes(path: Path) -> int:
    """Bytes that this user may still write on the disk of `path`, which need not exist yet."""
    return shutil.disk_usage(_existing(path)).free


def check(needs: Iterable[Need], free: Free = free_bytes) -> None:
    """SandboxError when the needs that fall on one disk are more than is free there."""
    disks: dict[int, list[Need]] = defaultdict(list)
    for need in needs:
        if need.megabytes > 0:
            disks[_existing(need.path).stat().st_dev].append(need)
    for found in disks.values():
        needed = sum(need.megabytes for need in found)
        have = free(found[0].path) / _MB
        if have < needed:
            parts = "\n".join(
                f"  {_size(need.megabytes)} for {need.purpose} in {need.path} ({need.variable} moves it)"
                for need in found
            )
            raise SandboxError(
                f"the disk is too small for the build: {_size(needed)} needed, {_size(have)} free\n{parts}\n"
                "make room, or let a variable name a folder on a larger disk, and start again: what is done is kept"
            )


def _existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _size(megabytes: float) -> str:
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 100 else f"{megabytes:.0f} MB"

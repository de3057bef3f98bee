"""Where a sandbox keeps its files, and what it remembers between two commands."""

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.cluster.ports import BLOCK, Ports, choose_base
from sandbox.cluster.text import read_json, write_private
from sandbox.errors import SandboxError

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
# A fresh control plane writes about 300 MB; a disk that fills up damages etcd's data in the midst of a write.
DISK_NEEDED = 1 << 30


def state_home() -> Path:
    """The folder of all sandboxes: $XDG_STATE_HOME/lantau, by default ~/.local/state/lantau."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "lantau"


def seed_home() -> Path:
    """The folder of seeds for new stores: $XDG_CACHE_HOME/lantau/seeds, by default ~/.cache/lantau/seeds."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "lantau" / "seeds"


@dataclass(frozen=True)
class Layout:
    """The files of the sandbox called `name` under `home`."""

    home: Path
    name: str

    def __post_init__(self) -> None:
        """Refuse a name that is no file name or no Kubernetes name."""
        if not _NAME.fullmatch(self.name):
            raise SandboxError(
                f"--name {self.name!r} is no name for a sandbox: use 1 to 40 of a-z, 0-9 and '-', "
                "beginning and ending with a letter or digit"
            )

    @property
    def folder(self) -> Path:
        """Everything of this sandbox but its lock."""
        return self.home / self.name

    @property
    def lock(self) -> Path:
        """Outside the folder, because the folder is deleted under the lock."""
        return self.home / f"{self.name}.lock"

    @property
    def config(self) -> Path:
        """Files that the processes read."""
        return self.folder / "config"

    @property
    def pki(self) -> Path:
        """Keys and certificates of Kubernetes; etcd has an authority of its own."""
        return self.folder / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        """The API server's audit log, JSON lines."""
        return self.folder / "audit" / "audit.log"

    @property
    def context(self) -> str:
        """The name of the context in the kubeconfig."""
        return f"lantau-{self.name}"

    @property
    def exists(self) -> bool:
        """Whether `up` was ever begun here and the data was not deleted since."""
        return (self.folder / "instance.json").exists()

    def secret(self, name: str, length: int = 32) -> str:
        """A random value made once and kept in the file `name`, `length` bytes as hexadecimal digits."""
        path = self.folder / name
        if not path.exists():
            write_private(path, secrets.token_hex(length) + "\n")
        return path.read_text().strip()

    def ports(self, base: int | None = None) -> Ports:
        """The block of ports, chosen on first use; `base` moves the sandbox to another block."""
        known = self._settings().get("base_port")
        if base is None:
            base = known if isinstance(known, int) else choose_base(self.name, str(self.folder), self._other_bases())
        ports = Ports.from_base(base)
        if base != known:
            for name, other in self._others().items():
                if abs(other - base) < BLOCK:
                    raise SandboxError(
                        f"base port {base} belongs to the sandbox {name!r} ({other} to {other + BLOCK - 1}); "
                        f"choose another: python -m sandbox up --name {self.name} --base-port {base + 1000}"
                    )
            self._remember("base_port", base)
        return ports

    @property
    def processes(self) -> tuple[str, ...]:
        """The processes that the last finished `up` had running; empty before the first."""
        names = self._settings().get("processes")
        return tuple(map(str, names)) if isinstance(names, list) else ()

    def remember_processes(self, names: Iterable[str]) -> None:
        """Note what runs when all is well."""
        self._remember("processes", sorted(names))

    def prepare(self) -> None:
        """Make the folders, readable by their owner only; SandboxError when the disk is nearly full or not ours."""
        try:
            self._sweep()
            for folder in (self.folder, self.config, self.audit_log.parent, self.folder / "pulumi"):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.folder.chmod(0o700)
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise SandboxError(f"cannot make {self.folder}: {error.strerror}") from error
        if free < DISK_NEEDED:
            raise SandboxError(
                f"the disk of {self.folder} has {free >> 20} MiB free, {DISK_NEEDED >> 20} MiB are needed; "
                "make room, or set XDG_STATE_HOME to a folder on another disk"
            )

    def delete(self) -> None:
        """Remove everything; SandboxError when a file cannot be removed."""
        try:
            # Moved away in one step: a removal that is cut short must not leave half of a store behind for the next up.
            self._sweep()
            if self.folder.exists():
                self.folder.rename(self._trash)
            self._sweep()
            self.lock.unlink(missing_ok=True)
        except OSError as error:
            raise SandboxError(f"cannot remove {error.filename or self.folder}: {error.strerror}") from error

    def _settings(self) -> dict[str, Any]:
        return read_json(self.folder / "instance.json") or {}

    def _remember(self, key: str, value: object) -> None:
        write_private(self.folder / "instance.json", json.dumps({**self._settings(), key: value}) + "\n")

    @property
    def _trash(self) -> Path:
        return self.home / f".{self.name}.deleted"

    def _sweep(self) -> None:
        if self._trash.exists():
            shutil.rmtree(self._trash)

    def _others(self) -> dict[str, int]:
        bases = {}
        for path in self.home.glob("*/instance.json"):
            base = (read_json(path) or {}).get("base_port")
            if path.parent.name != self.name and isinstance(base, int):
                bases[path.parent.name] = base
        return bases

    def _other_bases(self) -> list[int]:
        return list(self._others().values())

"""Where finished programs and definitions lie: outside the checkout, named by a hash of all that made them.

A folder with its final name is whole: it is filled under another name and renamed at the end. What a killed build
leaves behind has a name that begins with `.partial-`, which nobody but the next builder looks at.
"""

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sandbox.engine.versions import FAMILIES, TOOLS, Family, Tool
from sandbox.errors import SandboxError

MODULES: Final = Path(__file__).parent / "modules"
LOCK: Final = "lock"
_ABOUT: Final = "about.json"
_PARTIAL: Final = ".partial-"


def cache_root() -> Path:
    """`$XDG_CACHE_HOME/lantau/engine`, by default `~/.cache/lantau/engine`; a relative XDG_CACHE_HOME is ignored."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError as error:
            raise SandboxError("there is no home folder for the cache: set HOME or XDG_CACHE_HOME") from error
    return base / "lantau" / "engine"


def module_files(folder: str, modules: Path = MODULES) -> list[Path]:
    """The committed files of one module that decide what is built from it, by name."""
    return sorted(
        path for path in (modules / folder).iterdir() if path.name in {"go.mod", "go.sum"} or path.suffix == ".go"
    )


@dataclass(frozen=True)
class Store:
    """The cache at `root`, filled from the module folders at `modules`."""

    root: Path
    modules: Path = MODULES

    def key(self, tool: Tool, recipe: Sequence[str]) -> str:
        """Sixteen hex digits over the module's files, the recipe (flags, environment) and the machine's kind.

        The version of Go is not in it: a newer Go is no reason to build for half an hour again, and whoever has the
        binaries needs no Go at all. `about` tells which Go it was.
        """
        parts = [tool.name, tool.package, *recipe, platform.system(), platform.machine()]
        return self._hash(parts, module_files(tool.folder, self.modules))

    def folder(self, tool: Tool, recipe: Sequence[str]) -> Path:
        """Where the tool lies once it is built."""
        return self.root / f"{tool.name}-{self.key(tool, recipe)}"

    def family_folder(self, family: Family) -> Path:
        """Where the definitions of the family lie once they are fetched."""
        parts = [family.name, family.module, family.version, family.folder]
        return self.root / f"crds-{family.name}-{self._hash(parts, module_files('crds', self.modules))}"

    def about(self, folder: Path) -> dict[str, Any] | None:
        """What was noted when `folder` was finished; None when it is not there, not whole or not readable."""
        try:
            about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
            sizes = {name: (folder / name).stat().st_size for name in about["files"]}
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return about if sizes == about["files"] else None

    def partial(self, name: str) -> Path:
        """A new empty folder to fill; only the holder of the lock may ask for one."""
        folder = self.root / f"{_PARTIAL}{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def publish(self, partial: Path, final: Path, notes: dict[str, Any]) -> None:
        """Give the filled folder its final name, with notes and the sizes of its files, safe against a power cut."""
        files = sorted(path for path in partial.rglob("*") if path.is_file())
        sizes = {str(path.relative_to(partial)): path.stat().st_size for path in files}
        about = partial / _ABOUT
        about.write_text(json.dumps({**notes, "files": sizes}, indent=1) + "\n", encoding="utf-8")
        for path in (*files, about):
            _sync(path)
        _sync(partial)
        if final.exists():  # it is not whole, or nobody would have built it again
            shutil.rmtree(final)
        partial.rename(final)
        _sync(self.root)

    def sweep(self) -> None:
        """Remove what killed builds left behind; only for the holder of the lock."""
        for path in self.root.glob(f"{_PARTIAL}*"):
            shutil.rmtree(path, ignore_errors=True)

    def outdated(self, current: Iterable[Path]) -> list[Path]:
        """Finished folders that are not among `current`: other versions', or other checkouts' of this machine."""
        known = set(current)
        prefixes = (*(f"{tool.name}-" for tool in TOOLS), *(f"crds-{family.name}-" for family in FAMILIES), "tools-")
        return sorted(path for path in self.root.glob("*") if path.name.startswith(prefixes) and path not in known)

    @staticmethod
    def _hash(parts: Sequence[str], files: Iterable[Path]) -> str:
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part.encode() + b"\0")
        for path in files:
            content = path.read_bytes()
            digest.update(f"{path.name} {len(content)}\0".encode())
            digest.update(content)
        return digest.hexdigest()[:16]


@contextmanager
def written_plainly(root: Path) -> Iterator[None]:
    """Turn a failure to write below `root` (no room, no right) into a SandboxError that says what moves the cache."""
    try:
        yield
    except BrokenPipeError:  # the reader of our progress is gone, which is no fault of the cache
        raise
    except OSError as error:
        where = error.filename or root
        raise SandboxError(
            f"cannot write to the cache, {where}: {error.strerror}; make room or mend its rights there, or let "
            "XDG_CACHE_HOME name another folder"
        ) from error


def folder_size(path: Path) -> int:
    """Bytes of all files below `path`."""
    return sum(found.lstat().st_size for found in path.rglob("*") if found.is_file() and not found.is_symlink())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

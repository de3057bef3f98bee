"""Which files are judged, and their texts."""

import codecs
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

SUFFIXES: Final = (".yaml", ".yml", ".json")
LARGEST: Final = 128 * 2**20
"""Bytes of the largest file that is read."""

_LEFT_OUT: Final = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", ".terraform"})
# UTF-32 begins like UTF-16, so it is asked for first.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class InputError(Exception):
    """A file or configuration that cannot be judged; the message says which and why, and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to judge. `named`: a person named it, so it must hold something to judge; others lay in a folder."""

    name: str
    named: bool = True

    def read(self) -> str:
        """Text of the file; raises InputError."""
        try:
            if self.name == "-":
                raw = sys.stdin.buffer.read(LARGEST + 1)
            else:
                with Path(self.name).open("rb") as file:
                    raw = file.read(LARGEST + 1)
        except OSError as error:
            raise InputError(f"{self.title}: cannot be read: {error.strerror}") from None
        if len(raw) > LARGEST:
            raise InputError(f"{self.title}: is larger than {LARGEST >> 20} MiB; split it")
        return self._decoded(raw)

    def _decoded(self, raw: bytes) -> str:
        mark, encoding = next(((mark, name) for mark, name in _MARKS if raw.startswith(mark)), (b"", "utf-8"))
        try:
            return raw[len(mark) :].decode(encoding)
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise InputError(f"{self.title}: is no UTF-8 text: a byte in line {line} belongs to no character") from None

    @property
    def title(self) -> str:
        """Name in messages."""
        return "standard input" if self.name == "-" else self.name

    @property
    def chart(self) -> str:
        """Folder of the Helm chart this file is a template of, else empty: it becomes a manifest when rendered."""
        path = Path(self.name)
        for parent in (path, *path.parents):
            if parent.name == "templates" and (parent.parent / "Chart.yaml").exists():
                return str(parent.parent)
        return ""


@dataclass
class Found:
    """Files in the order of the arguments, and what could not be looked into."""

    sources: list[Source] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    folders: dict[str, int] = field(default_factory=dict)
    """Folders that were named, with the number of files found below each."""


def find(paths: Iterable[str]) -> Found:
    """Files named by the arguments, each once; folders stand for the YAML and JSON files below them, `-` for stdin."""
    found = Found()
    seen: set[str] = set()

    def add(source: Source) -> None:
        real = source.name if source.name == "-" else os.path.realpath(source.name)
        if real not in seen:
            seen.add(real)
            found.sources.append(source)

    for path in paths:
        if path == "-":
            add(Source(path))
            continue
        try:
            folder = stat.S_ISDIR(Path(path).stat().st_mode)
        except (OSError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError | NotADirectoryError)
            reason = "there is no such file or folder" if missing else f"cannot be read: {_reason(error)}"
            found.problems.append(f"{path}: {reason}")
            continue
        if folder:
            below = list(_below(path, found.problems))
            found.folders[path] = len(below)
            for name in below:
                add(Source(name, named=False))
        else:
            add(Source(path))
    return found


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "this is no path"


def _below(root: str, problems: list[str]) -> Iterator[str]:
    """Files below a folder, in the order of their names. As for kubectl, names with a dot in front count too."""

    def unreadable(error: OSError) -> None:
        problems.append(f"{error.filename}: cannot be read: {error.strerror}")

    for folder, folders, files in os.walk(root, onerror=unreadable):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(files):
            path = Path(folder, name)
            if name.lower().endswith(SUFFIXES) and (path.is_file() or path.is_symlink()):
                yield str(path)

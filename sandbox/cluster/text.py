"""Small readers that several modules of the cluster share."""

import json
import os
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxError


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in `path`; None when there is no file or its content is not a JSON object (a torn write)."""
    try:
        value = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_private(path: Path, content: str | bytes) -> None:
    """Put `content` (readable by the owner only) into `path` in one step, so that a reader never sees half of it.

    Raises SandboxError when the disk is full or the folder is not ours to write in.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary.unlink(missing_ok=True)
        temporary.touch(mode=0o600)
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise SandboxError(f"cannot write {path}: {error.strerror}") from error


def last_lines(path: Path, count: int = 8, width: int = 300) -> str:
    """The last `count` lines of a log, each cut at `width` characters and indented; a note when there is nothing."""
    try:
        with path.open("rb") as log:
            log.seek(0, 2)
            log.seek(max(0, log.tell() - 65536))
            text = log.read().decode(errors="replace")
    except OSError:
        text = ""
    lines = [line.rstrip()[:width] for line in text.splitlines() if line.strip()][-count:]
    return "\n".join(f"    {line}" for line in lines) or "    (its log is empty)"

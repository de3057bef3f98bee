"""Providers that outlive an engine that was killed outright."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sandbox.engine import Engine

PROVIDER = "pulumi-resource-kubernetes"


def end_orphans(engine: Engine) -> list[int]:
    """End the providers of our engine whose engine is gone; returns their process numbers.

    The provider of Kubernetes looks only every five minutes whether its engine still lives, and goes on with what it
    was told until then. Those of an engine of the user's own are none of our business.
    """
    if not engine.built:
        return []
    plugins = Path(engine.environment({})["PULUMI_HOME"]) / "plugins"
    programs = {str(path.resolve()) for path in plugins.glob(f"*/{PROVIDER}")}
    ended = []
    for pid in _running(programs):
        with suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                # The handle stays bound to this process; only now is it certain that the number was not given anew.
                if _program(pid) in programs and _parent(pid) != "pulumi":
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    ended.append(pid)
            finally:
                os.close(handle)
    return ended


def _running(programs: set[str]) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        if _program(int(folder.name)) in programs:
            yield int(folder.name)


def _program(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:  # it has ended, or is another user's
        return ""


def _parent(pid: int) -> str:
    """The name of the parent's program."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return Path(f"/proc/{fields[1]}/comm").read_text().strip()

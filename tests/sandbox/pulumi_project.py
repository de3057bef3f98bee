"""A small Pulumi project of a test, run by the real engine with our language host."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VIRTUALENV = Path(sys.prefix)
TIMEOUT = 180.0
"""Seconds for one command of a machine that does other things too."""


@dataclass
class Project:
    """A project with one stack, `dev`, in `folder`; its state lies in `folder`/state.

    Every process that comes of it carries the variable LANTAU_TEST_MARK, whatever its parent is, so `processes` finds
    all that a command left behind.
    """

    folder: Path
    environment: Mapping[str, str]
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    passphrase: str = "a passphrase of the test"

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project, without the text's common indentation."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return file

    def program(self, text: str) -> None:
        """Write the program."""
        self.write("__main__.py", text)

    def settings(self, *, virtualenv: Path | str = VIRTUALENV, more: Mapping[str, Any] | None = None) -> None:
        """Write Pulumi.yaml, as JSON, which is YAML too."""
        options = {"virtualenv": str(virtualenv)}
        content = {"name": "trial", "runtime": {"name": "python", "options": options}, **(more or {})}
        self.write("Pulumi.yaml", json.dumps(content))

    def variables(self) -> dict[str, str]:
        """The environment of its commands."""
        return {
            "PULUMI_HOME": str(self.folder / "home"),
            **self.environment,
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": self.passphrase,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "LANTAU_TEST_MARK": self.mark,
        }

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command as a terminal would: in a group of its own, with all output in one stream."""
        return subprocess.Popen(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=self.folder,
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, code: int | None = 0) -> str:
        """Run a command to its end; returns what it printed, after checking its exit code (None: that it failed)."""
        with self.start(*arguments) as process:
            try:
                output, _ = process.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        ended_as_wanted = process.returncode != 0 if code is None else process.returncode == code
        assert ended_as_wanted, f"pulumi {' '.join(arguments)} ended with {process.returncode}:\n{output}"
        return output

    def up(self, *arguments: str, code: int | None = 0) -> str:
        """`pulumi up` without a question."""
        return self.run("up", "--yes", "--skip-preview", *arguments, code=code)

    def preview_changes_nothing(self) -> None:
        """Fail when a preview shows any change."""
        self.run("preview", "--expect-no-changes")

    def outputs(self, *, secrets: bool = False) -> dict[str, Any]:
        """The stack's outputs."""
        text = self.run("stack", "output", "--json", *(["--show-secrets"] if secrets else []))
        content: dict[str, Any] = json.loads(text)
        return content

    def state(self) -> dict[str, Any]:
        """The stack's state as it is stored."""
        content: dict[str, Any] = json.loads(self.run("stack", "export"))
        return content

    def resource(self, name: str) -> dict[str, Any]:
        """One resource of the state, by its logical name."""
        found = [entry for entry in self.state()["deployment"]["resources"] if entry["urn"].endswith(f"::{name}")]
        assert len(found) == 1, f"{name} is there {len(found)} times"
        resource: dict[str, Any] = found[0]
        return resource

    def processes(self) -> dict[int, str]:
        """The living processes that came of this project's commands: pid to command line."""
        found = {}
        for folder in Path("/proc").iterdir():
            try:
                environment = (folder / "environ").read_bytes() if folder.name.isdigit() else b""
                if f"LANTAU_TEST_MARK={self.mark}".encode() in environment:
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found[int(folder.name)] = command
            except OSError:  # it has ended, or is another user's
                continue
        return found

    def end_all(self) -> list[str]:
        """End what is left; returns the command lines, which a test wants to be none."""
        left = self.processes()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return list(left.values())


def until(what: str, condition: Callable[[], object], timeout: float = TIMEOUT) -> None:
    """Wait for a condition; fail, saying what was waited for, after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout:.0f} s: {what}"
        time.sleep(0.05)


def assert_quiet(output: str) -> None:
    """No Python process may comment on its end."""
    for word in ("KeyboardInterrupt", "Traceback", "exited prematurely", "non-zero exit code"):
        assert word not in output

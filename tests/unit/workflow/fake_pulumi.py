"""A `pulumi` of a test's own: it notes how it was called and does what the test told it to."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.engine import Engine

PROGRAM = """\
import json, os, sys
from pathlib import Path

folder = Path(__file__).parent
arguments = sys.argv[1:]
config = arguments[arguments.index("--config-file") + 1] if "--config-file" in arguments else None
call = {
    "arguments": arguments,
    "folder": os.getcwd(),
    "environment": dict(os.environ),
    "config": config and Path(config).read_text(),
}
with (folder / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps(call) + "\\n")
for answer in json.loads((folder / "answers.json").read_text()):
    if arguments[: len(answer["begins"])] == answer["begins"]:
        for path, text in answer["writes"].items():
            Path(path).write_text(text)
        if "--event-log" in arguments:
            Path(arguments[arguments.index("--event-log") + 1]).write_text(answer["events"])
        sys.stdout.write(answer["out"])
        sys.stderr.write(answer["err"])
        if answer["kill"]:
            os.kill(os.getpid(), answer["kill"])
        sys.exit(answer["code"])
"""


@dataclass
class FakePulumi:
    """A program called `pulumi` in `folder`."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.path.write_text(f"#!{sys.executable} -IS\n{PROGRAM}", encoding="utf-8")
        self.path.chmod(0o755)
        self.answers: list[dict[str, Any]] = []
        self._write()

    @property
    def path(self) -> Path:
        """The program."""
        return self.folder / "pulumi"

    def engine(self, *, built: bool = False) -> Engine:
        """It as an engine: the user's own, or one that we built."""
        return Engine(self.path, self.folder if built else None, built=built)

    def answer(
        self,
        *begins: str,
        out: str = "",
        err: str = "",
        code: int = 0,
        writes: dict[str, str] | None = None,
        events: str = "",
        kill: int = 0,
    ) -> None:
        """What it does when its arguments begin like this; what was said last goes first.

        `writes` are files by path, relative to the folder that it is run in; `kill` is a signal that ends it.
        """
        answer = {"begins": begins, "out": out, "err": err, "code": code, "events": events, "kill": kill}
        self.answers.insert(0, {**answer, "writes": writes or {}})
        self._write()

    def calls(self, *begins: str) -> list[dict[str, Any]]:
        """How it was called: `arguments`, `folder`, `environment` and the text of the `config` file."""
        path = self.folder / "calls.jsonl"
        found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [call for call in found if call["arguments"][: len(begins)] == list(begins)]

    def _write(self) -> None:
        (self.folder / "answers.json").write_text(json.dumps(self.answers), encoding="utf-8")

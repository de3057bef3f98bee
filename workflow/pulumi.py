"""The Pulumi command line, run on one stack."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from sandbox.cluster import FOREIGN_VARIABLES
from sandbox.engine import Engine
from workflow.errors import WorkflowError
from workflow.events import Outcome, read_outcome
from workflow.orphans import end_orphans

POLICY_PACK = "policies"
POLICY_SETTINGS = "Policies.{stack}.json"
"""The pack's settings for one stack, beside the stack's own file: exceptions, each with a reason and an end."""
INTERRUPTED = 130

NO_BACKEND = """\
Pulumi does not know where the state of stack {stack} is kept. Choose a place once, on this machine:
  {pulumi} login 's3://BUCKET?region=ap-east-1'    a bucket, for a team
  {pulumi} login file://~                          ~/.pulumi, to try it out
  {pulumi} login                                   Pulumi Cloud
or set PULUMI_BACKEND_URL to such an address. Then make the stack: {pulumi} stack init {stack}"""
NO_STACK = """\
{backend} holds no stack {stack}. Make it, with the key that encrypts its secrets:
  {pulumi} stack init {stack} --secrets-provider "awskms://alias/KEY?region=ap-east-1"    or, with a passphrase:
  {pulumi} stack init {stack}
If it should be there already, log in to the backend that holds it: {pulumi} login"""


@dataclass
class StackCommand:
    """Pulumi for one stack of one project.

    `state_dir` is given for stacks whose state we keep ourselves (sandbox and stand-in): the stack's file is then
    staged there, because Pulumi writes its encryption salt into the file it is given, and the checkout stays clean.
    """

    project: Path
    stack: str
    engine: Engine
    env: Mapping[str, str] = field(repr=False)
    """Variables beside those of this process."""
    state_dir: Path | None = None
    stack_file: Path | None = None
    """File with the stack's configuration; Pulumi.<stack>.yaml of the project when left out."""
    transcript: Path | None = None
    """File that gets what Pulumi prints, instead of the terminal."""

    def prepare(self) -> None:
        """Make the stack exist in its backend, and clear what a killed run left behind.

        A backend of the user's own is theirs to choose, and so are its stacks: WorkflowError when one is missing.
        """
        end_orphans(self.engine)
        if self.state_dir is None:
            self._find_stack()
            return
        self._stage_dir.mkdir(parents=True, exist_ok=True)
        with self._alone():
            self._prepare_own()

    def _prepare_own(self) -> None:
        shutil.copy(self.project / "Pulumi.yaml", self._stage_dir / "Pulumi.yaml")
        listed = json.loads(self._capture(["stack", "ls", "--json"], cwd=self._stage_dir))
        if self.stack not in {entry["name"].split("/")[-1] for entry in listed} or not self._salt_file.exists():
            self._salt_file.unlink(missing_ok=True)
            verb = ["stack", "init"] if self.stack not in {entry["name"] for entry in listed} else ["stack", "select"]
            self._capture([*verb, self.stack], cwd=self._stage_dir)
        self._clear_dead_lock()

    def up(
        self, *, refresh: bool = False, yes: bool = True, policies: bool = True, args: Sequence[str] = ()
    ) -> Outcome:
        """`pulumi up`, always after its preview: what a policy refuses there is refused before anything is made.

        Raises WorkflowError when it fails.
        """
        options = ["--yes"] if yes else []
        return self._operate("up", [*options, *(["--refresh"] if refresh else []), *self._pack(policies), *args])

    def preview(self, *, policies: bool = True, args: Sequence[str] = ()) -> Outcome:
        """`pulumi preview`. Raises WorkflowError when it fails."""
        return self._operate("preview", [*self._pack(policies), *args])

    def capture_preview(self) -> str:
        """`pulumi preview --json` without policies: the document as text."""
        return self._capture(["preview", "--json", "--stack", self.stack, *self._config()])

    def refresh(self) -> Outcome:
        """`pulumi refresh`. Raises WorkflowError when it fails."""
        return self._operate("refresh", ["--yes", "--skip-preview"])

    def destroy(self, *, yes: bool = True) -> Outcome:
        """`pulumi destroy`. Raises WorkflowError when it fails."""
        return self._operate("destroy", ["--yes", "--skip-preview"] if yes else [])

    def outputs(self) -> dict[str, Any]:
        """Outputs of the stack; secret ones are masked by Pulumi."""
        found = json.loads(self._capture(["stack", "output", "--json", "--stack", self.stack]))
        return dict(found)

    def export(self) -> str:
        """The stack's state as JSON text, secrets encrypted."""
        return self._capture(["stack", "export", "--stack", self.stack])

    def _find_stack(self) -> None:
        done = self._run(["stack", "--stack", self.stack, "--show-name"])
        if not done.returncode:
            return
        reason = done.stderr.strip()
        # On a terminal Pulumi would ask for a login, or offer to make the stack, in the midst of the command.
        if any(words in reason for words in ("PULUMI_ACCESS_TOKEN must be set", "requires logging in")):
            raise WorkflowError(NO_BACKEND.format(stack=self.stack, pulumi=self._pulumi))
        if "no stack named" in reason:
            raise WorkflowError(NO_STACK.format(stack=self.stack, pulumi=self._pulumi, backend=self._backend()))
        raise WorkflowError(f"pulumi cannot open stack {self.stack}: {reason.removeprefix('error: ')}")

    def _backend(self) -> str:
        done = self._run(["whoami", "--verbose"])
        urls = [line.split(":", 1)[1].strip() for line in done.stdout.splitlines() if line.startswith("Backend URL:")]
        return urls[0] if urls else "the backend that you are logged in to"

    @property
    def _pulumi(self) -> str:
        """How the user calls this engine from the project's folder."""
        if not self.engine.built:
            return "pulumi"
        executable = self.engine.pulumi
        inside = executable.is_relative_to(self.project)
        return str(executable.relative_to(self.project) if inside else executable)

    @property
    def _stage_dir(self) -> Path:
        if self.state_dir is None:
            raise ValueError("only a stack whose state is kept here is staged")
        return self.state_dir / "stage"

    @property
    def _salt_file(self) -> Path:
        return self._stage_dir / f"Pulumi.{self.stack}.yaml"

    def _config(self) -> list[str]:
        given = self.stack_file or self.project / f"Pulumi.{self.stack}.yaml"
        if self.state_dir is None:
            return ["--config-file", str(given)] if self.stack_file else []
        staged = self._stage_dir / "config.yaml"
        staged.write_text(
            f"{given.read_text(encoding='utf-8').rstrip()}\n{self._salt_file.read_text(encoding='utf-8')}"
        )
        return ["--config-file", str(staged)]

    def _pack(self, wanted: bool) -> list[str]:
        if not wanted:
            return []
        pack = ["--policy-pack", str(self.project / POLICY_PACK)]
        settings = self.project / POLICY_SETTINGS.format(stack=self.stack)
        return [*pack, "--policy-pack-config", str(settings)] if settings.exists() else pack

    def _operate(self, verb: str, options: Sequence[str]) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="lantau-") as folder:
            log = Path(folder) / "events.jsonl"
            command = [verb, "--stack", self.stack, *self._config(), "--event-log", str(log), *options]
            with self._alone():
                status = self._stream(command)
            outcome = read_outcome(log)
        if status and (outcome.interrupted or status == INTERRUPTED or status < 0):
            raise WorkflowError(f"pulumi {verb} was interrupted. The same command continues where it stopped.", outcome)
        if status:
            raise WorkflowError(f"pulumi {verb} of {self.stack} failed; the reason stands above.", outcome)
        return outcome

    def _stream(self, command: Sequence[str]) -> int:
        """Run Pulumi on the terminal. Ctrl-C reaches it through the terminal; this process waits for its end."""
        with _interrupts_left_to_the_child(), self._output() as output:
            return subprocess.run(
                [str(self.engine.pulumi), *command],
                cwd=self.project,
                env=self._environment(),
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                check=False,
            ).returncode

    @contextmanager
    def _output(self) -> Iterator[IO[bytes] | None]:
        if self.transcript is None:
            yield None
            return
        with self.transcript.open("ab") as output:
            yield output

    def _capture(self, command: Sequence[str], cwd: Path | None = None) -> str:
        result = self._run(command, cwd)
        if result.returncode:
            raise WorkflowError(f"pulumi {command[0]} {command[1]} failed: {result.stderr.strip()}")
        return result.stdout

    def _run(self, command: Sequence[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.engine.pulumi), *command, "--non-interactive"],
            cwd=cwd or self.project,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep a second command off a stack whose state is kept here. WorkflowError when there is one already."""
        if self.state_dir is None:
            yield
            return
        with (self._stage_dir / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WorkflowError(
                    f"another command works on stack {self.stack} right now. Wait for its end, then try again."
                ) from None
            yield

    def _environment(self) -> dict[str, str]:
        foreign = () if self.state_dir is None else FOREIGN_VARIABLES
        values = {
            # Settings of the Kubernetes provider belong into the program, where a review sees them.
            name: value
            for name, value in os.environ.items()
            if name not in foreign and not name.startswith("PULUMI_K8S_")
        }
        # The event log is an option of the debug commands; Pulumi's Automation API switches it on in the same way.
        values |= {"PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_DEBUG_COMMANDS": "true"}
        return self.engine.environment({**values, **self.env})

    def _clear_dead_lock(self) -> None:
        """Remove the lock of a run on this machine whose process is gone; nobody else uses this backend."""
        url = self.env.get("PULUMI_BACKEND_URL", "")
        if not url.startswith("file://"):
            return
        locks = Path(url.removeprefix("file://").partition("?")[0]) / ".pulumi" / "locks"
        for lock in locks.rglob("*.json"):
            if self.stack not in lock.parts:
                continue
            try:
                pid = int(json.loads(lock.read_text(encoding="utf-8"))["pid"])
            except (ValueError, KeyError, OSError):
                pid = 0
            if _is_pulumi(pid):
                raise WorkflowError(
                    f"another pulumi (process {pid}) works on stack {self.stack}. Wait for its end, or end it."
                )
            lock.unlink(missing_ok=True)


def _is_pulumi(pid: int) -> bool:
    """Whether the process lives and is a pulumi; after a restart of the machine its number may be another program's."""
    process = Path(f"/proc/{pid}")
    try:
        # A process that ended and that nobody has waited for yet keeps its name, but no command line.
        return (process / "comm").read_text().strip() == "pulumi" and bool((process / "cmdline").read_bytes())
    except OSError:
        return False


@contextmanager
def _interrupts_left_to_the_child() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

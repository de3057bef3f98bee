"""Processes that outlive the command which started them, known again by pid file and never mistaken for another.

A pid file holds the pid, the process's start time in kernel ticks, the boot it belongs to, the command, and a
fingerprint of everything the process was started from. A recycled pid has another start time, so it is never ended.
"""

import contextlib
import hashlib
import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sandbox.cluster.text import last_lines, read_json
from sandbox.errors import SandboxError

STOP_GRACE: Final = 20.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
# Only these are waited for: a pid in an old pid file may since belong to a child that somebody else waits for.
_children: Final[set[int]] = set()

# The child writes its own pid file before it becomes the real program, and holds the instance's lock (its stdin) until
# then: whoever kills us between fork and exec cannot leave a process behind that nobody knows of.
_LAUNCH: Final = """
set -eu; umask 077
pidfile=$1; head=$2; shift 2
read -r stat < "/proc/$$/stat"; rest=${stat##*) }
ticks() { shift 19; start=$1; }; ticks $rest
printf '%s, "pid": %s, "start": %s}\\n' "$head" "$$" "$start" > "$pidfile.new"
mv "$pidfile.new" "$pidfile"
exec "$@" < /dev/null
"""


@dataclass(frozen=True)
class Spec:
    """What to run: `command` with exactly `environment`; `inputs` are files whose content it reads once, at start."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Path, ...] = ()
    ports: Mapping[int, str] = field(default_factory=dict)

    def fingerprint(self) -> str:
        """A digest of command, environment, program file and inputs: it changes when a restart is due."""
        digest = hashlib.sha256(json.dumps([self.command, sorted(self.environment.items())]).encode())
        with contextlib.suppress(OSError):
            program = Path(self.command[0]).stat()
            digest.update(f"{program.st_size} {program.st_mtime_ns}".encode())
        for path in self.inputs:
            digest.update(path.read_bytes())
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class Running:
    """A process of ours that is alive: `since` in seconds of the epoch, `rss` in bytes.

    `ending` when it was told to end: it may live on for a while, but nobody can count on it.
    """

    name: str
    pid: int
    start: int
    since: float
    rss: int
    fingerprint: str
    command: tuple[str, ...]
    ending: bool


class ProcessTable:
    """The processes of one sandbox: pid files in `folder`/run, logs in `folder`/logs."""

    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        self.logs = folder / "logs"

    def log(self, name: str) -> Path:
        """Where the output of the process goes."""
        return self.logs / f"{name}.log"

    def pid_file(self, name: str) -> Path:
        """Where the process is remembered."""
        return self.run / f"{name}.json"

    def _ending_file(self, name: str) -> Path:
        return self.run / f"{name}.ending"

    def _mark_ending(self, name: str) -> None:
        """So that whoever comes after a command killed in the midst does not take the process for a sound one."""
        # Without room for the mark the process is ended all the same.
        with contextlib.suppress(OSError):
            self._ending_file(name).touch(mode=0o600)

    def _forget(self, name: str) -> None:
        self.pid_file(name).unlink(missing_ok=True)
        self._ending_file(name).unlink(missing_ok=True)

    def names(self) -> list[str]:
        """Every process that has a pid file, alive or not."""
        return sorted(path.stem for path in self.run.glob("*.json"))

    def find(self, name: str) -> Running | None:
        """The process if it is alive and the very one that we started; None for a stale or torn pid file."""
        record = read_json(self.pid_file(name))
        if record is None:
            return None
        try:
            pid, start, command = int(record["pid"]), int(record["start"]), tuple(map(str, record["command"]))
            boot, fingerprint = str(record["boot"]), str(record["fingerprint"])
        except (KeyError, TypeError, ValueError):
            return None
        if boot != boot_id() or start_ticks(pid) != start:
            return None
        ending = self._ending_file(name).exists()
        return Running(name, pid, start, _since(start), _rss(pid), fingerprint, command, ending)

    def start(self, spec: Spec, lock: int) -> Running:
        """Start `spec` in a session of its own; `lock` is the descriptor of the instance's lock.

        Raises SandboxError when the program cannot be started; whether it stays alive is for `check` to say.
        """
        head = json.dumps({"command": spec.command, "fingerprint": spec.fingerprint(), "boot": boot_id()})[:-1]
        log = self.log(spec.name)
        arguments = ["sh", "-c", _LAUNCH, "sh", str(self.pid_file(spec.name)), head, *spec.command]
        try:
            for folder in (self.run, self.logs):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._forget(spec.name)
            pid = self._spawn(arguments, spec.environment, log, lock)
        except OSError as error:
            raise SandboxError(f"{spec.name} could not be started, {log}: {error.strerror}") from error
        _children.add(pid)
        while True:
            running = self.find(spec.name)
            if running is not None and running.pid == pid:
                return running
            if start_ticks(pid) is None:
                raise SandboxError(f"{spec.name} could not be started; the end of {log}:\n{last_lines(log)}")
            time.sleep(0.005)

    def _spawn(self, arguments: list[str], environment: Mapping[str, str], log: Path, lock: int) -> int:
        return os.posix_spawn(
            "/bin/sh",
            arguments,
            {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.run.parent), **environment},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, lock, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT],
        )

    def check(self, name: str) -> None:
        """Raise SandboxError with the end of its log when the process is no longer alive."""
        if self.find(name) is None:
            log = self.log(name)
            raise SandboxError(f"{name} has ended by itself; the end of {log}:\n{last_lines(log)}")

    def wait(self, name: str, ready: Callable[[], bool], timeout: float) -> None:
        """Wait until `ready()`, as long as the process lives; SandboxError when it dies or `timeout` seconds pass."""
        deadline = time.monotonic() + timeout
        while not ready():
            self.check(name)
            if time.monotonic() > deadline:
                log = self.log(name)
                raise SandboxError(f"{name} is not ready after {timeout:.0f} s; the end of {log}:\n{last_lines(log)}")
            time.sleep(0.03)

    def stop(self, names: Sequence[str], grace: float = STOP_GRACE) -> list[str]:
        """End these processes together: SIGTERM, at most `grace` seconds, SIGKILL; returns the names that were alive.

        A pid file that names no living process of ours is only removed.
        """
        handles: dict[str, tuple[int, int]] = {}
        try:
            for name in names:
                running = self.find(name)
                handle = _open(running) if running else None
                if running is None or handle is None:
                    self._forget(name)
                    continue
                handles[name] = (handle, running.pid)
                self._mark_ending(name)
                _send(handle, signal.SIGTERM)
            deadline = time.monotonic() + grace
            for handle, _ in handles.values():
                if not _ended(handle, deadline - time.monotonic()):
                    _send(handle, signal.SIGKILL)
                    _ended(handle, 10.0)
            for name, (_, pid) in handles.items():
                _reap(pid)
                self._forget(name)
        finally:
            for handle, _ in handles.values():
                os.close(handle)
        return list(handles)


def boot_id() -> str:
    """Names this boot of the machine: start times count from it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def start_ticks(pid: int) -> int | None:
    """The start time of a living process in kernel ticks since boot; None when there is none, or only its remains."""
    _reap(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (OSError, ValueError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def _open(running: Running) -> int | None:
    """A handle that stays bound to this very process, whatever becomes of its pid; None when it is gone."""
    try:
        handle = os.pidfd_open(running.pid)
    except ProcessLookupError:
        return None
    # Only now is it certain that the pid was not given to another process between the look-up and the handle.
    if start_ticks(running.pid) != running.start:
        os.close(handle)
        return None
    return handle


def _send(handle: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, number)


def _ended(handle: int, timeout: float) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(max(0, int(timeout * 1000))))


def _reap(pid: int) -> None:
    """Take the exit code of a process started by this very command, so that no remains of it stay."""
    if pid in _children:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                _children.discard(pid)


def _since(start: int) -> float:
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    return time.time() - uptime + start / _TICKS


def _rss(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0

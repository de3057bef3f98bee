"""Builds the missing programs one by one, after all downloads, so that a bad network shows early."""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from sandbox.engine import disk, golang
from sandbox.engine.cache import LOCK, Store, cache_root, module_files, written_plainly
from sandbox.engine.lock import exclusive
from sandbox.engine.progress import Reporter
from sandbox.engine.versions import Tool
from sandbox.errors import SandboxError

_ATTEMPTS: Final = 3
_TABLE_CORES: Final = 2  # the times of the table were measured on so many
_BINARY_MB: Final = 350
_PACE_SECONDS: Final = 30.0
_PROVIDER_DOCUMENTS: Final = {
    "schema.json": "schema-embed.json",
    "terraform-mapping.json": "terraform-mapping-embed.json",
}


@dataclass
class _Job:
    """One missing tool: where its module is staged, and how many of its packages Go has to compile."""

    tool: Tool
    folder: Path
    packages: int = 1
    stale: int = 1

    @property
    def share(self) -> float:
        return self.stale / max(self.packages, 1)

    @property
    def seconds(self) -> float:
        cores = golang.jobs() or os.cpu_count() or 1
        # Linking does not become faster with more cores, and takes about a tenth.
        return self.tool.seconds * (0.1 + 0.9 * self.share * _TABLE_CORES / min(cores, 16))


def recipe(tool: Tool) -> tuple[str, ...]:
    """What `go build` is told beside the package: it decides on the binary, so the cache's key holds it."""
    linker = " ".join(["-s", "-w", *(f"-X={symbol}={value}" for symbol, value in tool.symbols)])
    return (*golang.FLAGS, f"-ldflags={linker}", *(f"{name}={value}" for name, value in golang.SETTINGS.items()))


def default_store() -> Store:
    """The cache of this user."""
    return Store(cache_root())


def binary(store: Store, tool: Tool) -> Path | None:
    """The built program, when it is there and whole."""
    folder = store.folder(tool, recipe(tool))
    path = folder / tool.name
    return path if store.about(folder) is not None and os.access(path, os.X_OK) else None


def build(store: Store, tools: Sequence[Tool], reporter: Reporter, free: disk.Free = disk.free_bytes) -> None:
    """Build those of `tools` that are not in the cache yet; does nothing, and needs no Go, when all are.

    Raises SandboxError. Whatever is raised, what was finished stays, and no process is left running.
    """
    if all(binary(store, tool) for tool in tools):
        return
    with reporter, ended_by_signals(), written_plainly(store.root), exclusive(store.root / LOCK, reporter.say) as lock:
        missing = [tool for tool in tools if not binary(store, tool)]
        if not missing:
            return
        store.sweep()
        try:
            go = golang.find_go(golang.required_version(store.modules / tool.folder / "go.mod" for tool in missing))
            _Build(store, go, lock, reporter, free).run(missing)
        finally:
            store.sweep()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that nothing is left running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    previous = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Build:
    def __init__(self, store: Store, go: golang.Go, lock: int, reporter: Reporter, free: disk.Free) -> None:
        self._store = store
        self._go = go
        self._lock = lock
        self._reporter = reporter
        self._free = free
        self._started = time.monotonic()
        self._expected = 0.0  # seconds that the finished programs should have taken by the table
        self._compiling = self._started

    def run(self, missing: Sequence[Tool]) -> None:
        names = ", ".join(tool.name for tool in missing)
        self._reporter.say(f"{len(missing)} programs are not built yet: {names}")
        self._check_disk([_Job(tool, Path()) for tool in missing], before_download=True)
        jobs = [self._fetch(tool, f"modules {number}/{len(missing)}") for number, tool in enumerate(missing, 1)]
        self._check_disk(jobs, before_download=False)
        left = sum(job.seconds for job in jobs)
        cores = os.cpu_count() or 1
        self._reporter.say(
            f"compiling takes about {_minutes(left)} on the {cores} cores of this machine, once; it may be interrupted"
        )
        self._compiling = time.monotonic()
        for number, job in enumerate(jobs, 1):
            left -= job.seconds
            if number > 1:  # the programs before it have compiled some of its packages
                self._count(job, lambda _line: None, lambda: None)
            self._compile(job, f"{number}/{len(jobs)}", left)
        self._reporter.say(f"the programs are built, in {_minutes(time.monotonic() - self._started)}")

    def _fetch(self, tool: Tool, title: str) -> _Job:
        """Download what the tool needs and count what has to be compiled."""
        folder = self._store.partial(tool.name)
        stage = folder / "module"
        stage.mkdir()
        for path in module_files(tool.folder, self._store.modules):
            shutil.copy(path, stage)
        count = 0

        def on_line(line: str) -> None:
            nonlocal count
            count += line.startswith("go: downloading ")

        self._reporter.begin(f"{title} {tool.name}", 0)
        tick = self._ticker(lambda: count, lambda: "downloaded")
        if tool.package == ".":
            self._provider_documents(tool, stage, tick)
        job = _Job(tool, folder)
        self._count(job, on_line, tick)
        text = f"{count} modules downloaded" if count else "modules are there"
        self._reporter.end(f"{title} {tool.name}: {text}, {job.stale} of {job.packages} packages to compile")
        return job

    def _count(self, job: _Job, on_line: Callable[[str], None], tick: Callable[[], None]) -> None:
        template = "{{if .Stale}}stale{{else}}cached{{end}}"
        arguments = ["list", *golang.FLAGS, "-deps", "-f", template, job.tool.package]
        states = self._go_retrying(arguments, job.folder / "module", on_line, tick).split()
        job.packages, job.stale = len(states), states.count("stale")

    def _provider_documents(self, tool: Tool, stage: Path, tick: Callable[[], None]) -> None:
        """Two documents that the provider's main.go embeds, made compact from the files of its module."""
        answer = self._go_retrying(["mod", "download", "-json", tool.module], stage, lambda _line: None, tick)
        source = Path(json.loads(answer)["Dir"]) / "cmd" / "pulumi-resource-kubernetes"
        for name, embedded in _PROVIDER_DOCUMENTS.items():
            document = json.loads((source / name).read_text(encoding="utf-8"))
            if name == "schema.json":
                document["version"] = dict(tool.symbols).popitem()[1]
            text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
            (stage / embedded).write_text(text, encoding="utf-8")

    def _compile(self, job: _Job, title: str, left_after: float) -> None:
        tool, out = job.tool, job.folder / "out"
        out.mkdir()
        begun, count = time.monotonic(), 0

        def on_line(line: str) -> None:
            nonlocal count
            count += bool(line) and not line.startswith(("go: ", "#", " ", "\t"))

        def note() -> str:
            done = job.seconds * min(count / job.stale, 1.0)
            ahead = (job.seconds - done + left_after) * self._pace(self._expected + done)
            return f"packages, {_minutes(ahead)} left"

        flags = [part for part in recipe(tool) if part.startswith("-")]
        limit = golang.jobs()
        if limit is not None:
            flags.append(f"-p={limit}")
        self._reporter.begin(f"{title} {tool.name}", job.stale)
        arguments = ["build", "-v", *flags, "-o", str(out / tool.name), tool.package]
        golang.run_go(
            self._go, arguments, job.folder / "module", self._lock, on_line, self._ticker(lambda: count, note)
        )
        path = out / tool.name
        if not path.is_file() or path.stat().st_size == 0:
            raise SandboxError(f"`go build` said that {tool.name} is built, but there is none; start again")
        seconds = round(time.monotonic() - begun, 1)
        self._expected += job.seconds
        notes = {"module": tool.module, "version": tool.version, "go": self._version(job), "seconds": seconds}
        self._store.publish(out, self._store.folder(tool, recipe(tool)), notes)
        shutil.rmtree(job.folder, ignore_errors=True)
        self._reporter.end(f"{title} {tool.name} {tool.shown_version} built in {seconds:.0f} s")

    def _version(self, job: _Job) -> str:
        """The Go that compiled it, which may be a newer one that the Go of the machine fetched."""
        folder = job.folder / "module"
        answer = golang.run_go(self._go, ["env", "GOVERSION"], folder, self._lock, lambda _line: None, lambda: None)
        return answer.strip().removeprefix("go")

    def _pace(self, expected: float) -> float:
        """How much slower this machine is than the table says, once that can be told."""
        taken = time.monotonic() - self._compiling
        return max(taken / expected, 0.1) if expected > _PACE_SECONDS and taken > _PACE_SECONDS else 1.0

    def _go_retrying(
        self, arguments: Sequence[str], folder: Path, on_line: Callable[[str], None], tick: Callable[[], None]
    ) -> str:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return golang.run_go(self._go, arguments, folder, self._lock, on_line, tick)
            except SandboxError as error:
                if attempt == _ATTEMPTS or not golang.is_download_failure(error):
                    raise
                self._reporter.say(f"a download failed, trying again ({attempt} of {_ATTEMPTS - 1})")
        raise AssertionError("unreachable")

    def _ticker(self, done: Callable[[], int], note: Callable[[], str]) -> Callable[[], None]:
        return lambda: self._reporter.update(done(), note())

    def _check_disk(self, jobs: Sequence[_Job], *, before_download: bool) -> None:
        """Before the download the sizes of the table count in full, for tools none of whose modules are there."""
        cold = [job for job in jobs if not before_download or not self._downloaded(job.tool)]
        modules = sum(job.tool.modules_mb for job in cold) if before_download else 0
        compiled = sum(job.tool.cache_mb * job.share for job in cold)
        disk.check(
            [
                disk.Need(self._go.module_cache, modules, "the modules", "GOMODCACHE"),
                disk.Need(self._go.build_cache, compiled, "what Go compiles", "GOCACHE"),
                disk.Need(self._store.root, _BINARY_MB * len(jobs), "the programs", "XDG_CACHE_HOME"),
            ],
            self._free,
        )

    def _downloaded(self, tool: Tool) -> bool:
        # The module cache writes capital letters as an exclamation mark and the small letter; no tool's module has any.
        return (self._go.module_cache / "cache" / "download" / tool.module / "@v" / f"{tool.version}.zip").exists()


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"

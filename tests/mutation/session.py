"""Runs many mutants over one collected session of pytest: each in a forked child, which costs milliseconds."""

import enum
import gc
import os
import pickle
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import hypothesis
import pytest
from _pytest.runner import runtestprotocol

from tests.mutation.install import ARGUMENTS, NoFaultError, compiled, run_anew, swap
from tests.mutation.mutants import MODULE, ROOT, Mutant, Source

MEMORY: Final = 6 * 2**30
BUDGET: Final = 6.0
"""Seconds of tests, as measured without a mutant, that one mutant of a shared module may cost."""
PASSED, FAILED, NO_FAULT, BROKEN = 0, 11, 12, 13


class Verdict(enum.Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"
    SAME = "same program"
    BROKEN = "the tool failed"


@dataclass(frozen=True)
class Job:
    """Something to do in a child before its tests run, and which tests those are."""

    name: str
    tests: Callable[["Tests"], Sequence[pytest.Item]]
    source: Source | None = None
    mutant: Mutant | None = None
    change: Callable[[], None] | None = None


@dataclass
class Result:
    """A job and what came of it."""

    job: Job
    verdict: Verdict
    seconds: float


@dataclass
class Tests:
    """The collected tests: what they cost and what they reach, as seen in a run without any mutant."""

    items: list[pytest.Item]
    seconds: dict[str, float] = field(default_factory=dict)
    reached: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def reaching(self, file: str, function: str, near: Callable[[Path], bool]) -> list[pytest.Item]:
        """Tests that enter a function of a file (any function for a fault of the module), those `near` it first.

        Every test function has its turn before any has a second one, until BUDGET seconds are spent.
        """
        turns: dict[str, int] = defaultdict(int)
        ranked = []
        for item in self.items:
            if any(at == file and function in (MODULE, name) for at, name in self.reached.get(item.nodeid, ())):
                family = item.nodeid.partition("[")[0]
                turns[family] += 1
                ranked.append((turns[family], not near(item.path), self.seconds.get(item.nodeid, 0.0), item))
        chosen, spent = [], 0.0
        for _, _, seconds, item in sorted(ranked, key=lambda entry: entry[:3]):
            chosen.append(item)
            spent += seconds
            if spent > BUDGET:
                break
        return chosen


Progress = Callable[[Result], None]


def run(
    files: Iterable[Path], jobs: Sequence[Job], *, workers: int, trace: bool, progress: Progress
) -> tuple[list[Result], list[str]]:
    """Collect these test files once and run every job: the results, and the tests that fail without any mutant.

    Raises RuntimeError where pytest cannot collect the tests.
    """
    loop = _Loop(jobs, workers=workers, trace=trace, progress=progress)
    paths = sorted({str(file) for file in files})
    code = pytest.main([*ARGUMENTS, *paths], plugins=[loop])
    if not loop.ran:
        raise RuntimeError(f"pytest could not collect the tests (exit code {int(code)})")
    return loop.results, loop.failing


class _Loop:
    def __init__(self, jobs: Sequence[Job], *, workers: int, trace: bool, progress: Progress) -> None:
        self.jobs, self.workers, self.trace, self.progress = jobs, workers, trace, progress
        self.results: list[Result] = []
        self.failing: list[str] = []
        self.ran = False

    def pytest_sessionstart(self) -> None:
        """The same examples in every child, nothing written down, and no time spent on a shorter example."""
        hypothesis.settings.register_profile(
            "mutation",
            database=None,
            derandomize=True,
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        )
        hypothesis.settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop."""
        if session.testsfailed:
            return True
        self.ran = True
        items = session.items
        if not self.trace:
            everything = Tests(items)
            wanted = {item for job in self.jobs for item in job.tests(everything)}
            items = [item for item in items if item in wanted]
        tests = _measured(items, trace=self.trace, workers=self.workers)
        # A test that fails anyway notices nothing.
        self.failing = sorted(tests.failed)
        tests.items = [item for item in items if item.nodeid not in set(self.failing)]
        gc.collect()
        gc.freeze()
        self.results = list(self._all(tests))
        return True

    def _all(self, tests: Tests) -> Iterator[Result]:
        running: dict[int, tuple[Job, float]] = {}
        waiting = list(reversed(self.jobs))
        while waiting or running:
            while waiting and len(running) < self.workers:
                job = waiting.pop()
                chosen = job.tests(tests)
                running[_fork(job, chosen, _limit(tests, chosen))] = (job, time.monotonic())
            pid, status = os.wait()
            if pid in running:
                job, began = running.pop(pid)
                result = Result(job, _verdict(status), time.monotonic() - began)
                self.progress(result)
                yield result


def _limit(tests: Tests, chosen: Sequence[pytest.Item]) -> float:
    """Seconds of processor time for one mutant: some times what its tests need without it."""
    return 4.0 + 6 * sum(tests.seconds.get(item.nodeid, 0.0) for item in chosen)


def _verdict(status: int) -> Verdict:
    if os.WIFSIGNALED(status):
        return Verdict.TIMEOUT if os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM) else Verdict.KILLED
    known = {PASSED: Verdict.SURVIVED, FAILED: Verdict.KILLED, NO_FAULT: Verdict.SAME}
    return known.get(os.WEXITSTATUS(status), Verdict.BROKEN)


def _fork(job: Job, items: Sequence[pytest.Item], limit: float) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = BROKEN
    try:
        _quiet()
        _bounded(limit)
        code = _child(job, items)
    except NoFaultError:
        code = NO_FAULT
    except BaseException as error:  # noqa: BLE001
        # The child shares the parent's whole session: nothing of it may run on in here.
        os.write(2, f"{job.name}: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def _child(job: Job, items: Sequence[pytest.Item]) -> int:
    if not items:
        return PASSED
    if job.change is not None:
        job.change()
    if job.source is not None and job.mutant is not None:
        code = compiled(job.source, job.mutant)
        if not swap(job.source.module, job.mutant.function, code):
            return _of_pytest(run_anew(job.source, code, items))
    return FAILED if any(_fails(item, None) for item in items) else PASSED


def _of_pytest(code: int) -> int:
    if code == pytest.ExitCode.OK:
        return PASSED
    # A module that can no longer be imported interrupts the session: that is noticed too.
    return FAILED if code in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED) else BROKEN


def _fails(item: pytest.Item, following: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def _quiet() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1) if os.environ.get("MUTATION_DEBUG") else (0, 1, 2):
        os.dup2(nothing, stream)


def _bounded(limit: float) -> None:
    for name, seconds in ((signal.SIGPROF, limit), (signal.SIGALRM, 20 * limit)):
        signal.signal(name, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF if name == signal.SIGPROF else signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _measured(items: list[pytest.Item], *, trace: bool, workers: int) -> Tests:
    """Run every test once without a mutant, in children, and note what it costs and reaches."""
    tests = Tests(items)
    shares = [items[number::workers] for number in range(workers)]
    for reader, pid in [_measure(share, trace=trace) for share in shares if share]:
        with os.fdopen(reader, "rb") as stream:
            text = stream.read()
        os.waitpid(pid, 0)
        if not text:
            raise RuntimeError("the run without mutants did not end")
        seconds, reached, failed = pickle.loads(text)  # noqa: S301
        tests.seconds |= seconds
        tests.reached |= reached
        tests.failed += failed
    return tests


def _measure(share: Sequence[pytest.Item], *, trace: bool) -> tuple[int, int]:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return reader, pid
    try:
        _quiet()
        seconds: dict[str, float] = {}
        reached: dict[str, set[tuple[str, str]]] = {}
        failed = []
        for item, following in zip(share, [*share[1:], None], strict=True):
            seen: set[Any] = set()
            began = time.process_time()
            if trace:
                # A tracer that returns nothing hears of calls alone.
                sys.settrace(partial(_note, seen))
            if _fails(item, following):
                failed.append(item.nodeid)
            sys.settrace(None)
            seconds[item.nodeid] = time.process_time() - began
            reached[item.nodeid] = {_place(code) for code in seen if code.co_filename.startswith(_PACK)}
        with os.fdopen(writer, "wb") as stream:
            stream.write(pickle.dumps((seconds, reached, failed)))
    finally:
        os._exit(0)


_PACK: Final = str(ROOT / "policies")


def _note(seen: set[Any], frame: FrameType, event: str, _: object) -> None:
    del event
    seen.add(frame.f_code)


def _place(code: Any) -> tuple[str, str]:
    return str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname.partition(".<locals>")[0]

"""Judges files: one after the other, or in worker processes when there are many."""

import concurrent.futures
import itertools
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from policies.check.config import Configuration
from policies.check.files import InputError, Source
from policies.check.load import load
from policies.check.run import Checker, Line
from policies.settings import Exemption

MANY: Final = 300
"""Files from which on worker processes pay; each takes a third of a second to start."""
MOST_WORKERS: Final = 4
"""Each takes some 60 MB."""
_BATCH: Final = 20


@dataclass(slots=True)
class Judged:
    """What is to be said about one file."""

    file: str
    lines: list[Line] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: bool = False
    objects: int = 0
    used: frozenset[Exemption] = frozenset()


def judge(checker: Checker, source: Source) -> Judged:
    """Judge one file."""
    try:
        text = source.read()
    except InputError as error:
        return Judged(source.name, problems=[str(error)])
    before = checker.objects
    program = load(source, text)
    lines = list(checker.judge(program))
    objects = checker.objects - before
    if program.repeated:
        # A key that stands twice is two manifests for two readers; what one of them breaks is told once.
        known = {replace(line, message="") for line in lines}
        other = checker.judge(load(source, text, first=True))
        lines += [line for line in other if replace(line, message="") not in known]
    return Judged(
        source.name, lines, program.problems, program.notes, program.skipped, objects, frozenset(checker.used)
    )


def judge_all(configuration: Configuration, sources: Sequence[Source]) -> Iterator[Judged]:
    """Judge files; what is told comes in their order, however many processes work."""
    workers = min(MOST_WORKERS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    if len(sources) < MANY or workers < 2:
        checker = Checker(configuration)
        for source in sources:
            yield judge(checker, source)
        return
    # Forking would copy the SDK's threads in the midst of their work.
    spawning = multiprocessing.get_context("spawn")
    pool = concurrent.futures.ProcessPoolExecutor(workers, spawning, _begin, (configuration,))
    rest = iter(sources)
    batches = iter(lambda: list(itertools.islice(rest, _BATCH)), [])
    try:
        # A few batches ahead keep every worker busy and the memory bounded.
        ahead = deque(pool.submit(_batch, batch) for batch in itertools.islice(batches, 3 * workers))
        while ahead:
            yield from ahead.popleft().result()
            ahead.extend(pool.submit(_batch, batch) for batch in itertools.islice(batches, 1))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_WORKER: Final[list[Checker]] = []


def _begin(configuration: Configuration) -> None:
    """Prepare a worker: the command it works for ends it, also when it ends without a word."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
    _WORKER.append(Checker(configuration))


def _batch(sources: list[Source]) -> list[Judged]:
    return [judge(_WORKER[0], source) for source in sources]

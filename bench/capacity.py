"""How true the estimator is, and how fast."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bench.calibration import ObservedCase, observed_cases
from lantau.capacity.cases import answer, judge
from lantau.capacity.fit import Fit

ROUNDS: Final = 200
"""Times that all cases are judged."""
STARTS: Final = 7
"""Interpreters that are started; the median counts."""


@dataclass(frozen=True)
class Pace:
    """Speed of the estimator and of its import."""

    cases_per_second: float
    """Cases judged and rendered by one core."""
    import_seconds: float
    """Import of `lantau` with everything that `lantau fit` needs, beyond the start of the interpreter."""


def measure() -> Pace:
    """Judge all cases many times, and import the package in interpreters of its own."""
    cases = observed_cases()
    started = time.perf_counter()
    for _ in range(ROUNDS):
        for case in cases:
            answer(case, judge(case))
    rate = ROUNDS * len(cases) / (time.perf_counter() - started)
    bare, whole = (_start(code) for code in ("pass", "import lantau, lantau.cli, lantau.capacity.cases"))
    return Pace(rate, whole - bare)


def _start(code: str) -> float:
    seconds = []
    for _ in range(STARTS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def residuals() -> Iterator[str]:
    """A Markdown table: each observed case with what was seen, what is estimated, and how far it is off."""
    yield "| case | model | cards | weights seen | estimated | cache tokens seen | estimated | off | verdict |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in observed_cases():
        yield _row(case, judge(case))


def _row(case: ObservedCase, found: Fit) -> str:
    seen, rank = case.observed, found.rank
    tokens = found.tokens if seen.kv_cache_tokens else None
    off = f"{tokens / seen.kv_cache_tokens - 1:+.1%}" if tokens is not None and seen.kv_cache_tokens else ""
    happened = "fits" if seen.fits else "does not fit"
    verdict = happened if found.verdict.value == happened else f"{found.verdict.value}, in truth {happened}"
    cells = (
        case.id,
        case.model.rpartition("/")[2],
        f"{case.tp * case.pp} × {case.gpu or 'unnamed'}",
        f"{seen.weights_gib:.2f}" if seen.weights_gib else "",
        f"{rank.weights:.2f}" if rank else "",
        f"{seen.kv_cache_tokens:,}" if seen.kv_cache_tokens else "",
        f"{tokens:,}" if tokens is not None else "",
        off,
        verdict,
    )
    return "| " + " | ".join(cells) + " |"

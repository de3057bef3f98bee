"""How true the estimator is on observed cases, with its constants as they are and fitted without the case's own group.

A group is everything observed of one model: leaving it out shows what the estimator says of models it was never shown.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from lantau.capacity.activation import GIB, LOGIT_BYTES
from lantau.capacity.cases import Case, judge, question
from lantau.capacity.engines import Engine
from lantau.capacity.fit import Fit, Verdict

CASES = Path(__file__).parent / "capacity_cases.jsonl"
LABORATORY = ("sweep-", "versions-", "llmd-emp-")
"""Prefixes of the cases that were measured in a laboratory; the rest are reports from the field."""


SAMPLER_SHARE = 0.9
"""Share of a peak that has to be the sampler's for a run to say something about it."""


class Observation(BaseModel):
    """What a run showed. GiB of one rank."""

    fits: bool
    weights_gib: float | None = None
    kv_cache_gib: float | None = None
    kv_cache_tokens: int | None = None
    max_concurrency: float | None = None
    activation_gib: float | None = None


class ObservedCase(Case):
    """A case together with what happened."""

    observed: Observation

    @property
    def laboratory(self) -> bool:
        """Whether it was measured in a laboratory."""
        return self.id.startswith(LABORATORY)


@dataclass(frozen=True)
class Constants:
    """The figures that were fitted to observations."""

    copies_before: float
    """Copies of the logits up to vLLM 0.16."""
    copies_since: float
    """The same from 0.17 on."""
    hidden: float
    """Copies of the hidden states."""

    def of(self, engine: Engine) -> Engine:
        """The engine with these constants."""
        copies = self.copies_since if engine.version and engine.version[:2] >= (0, 17) else self.copies_before
        return replace(engine, sampler_copies=copies, hidden_copies=self.hidden)


@dataclass(frozen=True)
class Result:
    """Relative errors, as shares, and verdicts against what happened."""

    weights: list[float]
    laboratory_tokens: list[float]
    field_tokens: list[float]
    cache: list[float]
    false_fits: list[str]
    false_refusals: list[str]
    marginal: list[str]
    unknown: list[str]
    judged: int


def observed_cases(path: Path = CASES) -> list[ObservedCase]:
    """Cases of a JSON-lines file with their observations."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [ObservedCase.model_validate_json(line) for line in lines if line.strip()]


def measure(cases: Sequence[ObservedCase], judged: Callable[[ObservedCase], Fit]) -> Result:
    """Compare estimates with observations."""
    result = Result([], [], [], [], [], [], [], [], len(cases))
    for case in cases:
        found, seen = judged(case), case.observed
        if found.verdict is Verdict.UNKNOWN:
            result.unknown.append(case.id)
            continue
        if found.verdict is Verdict.MARGINAL:
            result.marginal.append(case.id)
        elif found.verdict is Verdict.FITS and not seen.fits:
            result.false_fits.append(case.id)
        elif found.verdict is Verdict.DOES_NOT_FIT and seen.fits:
            result.false_refusals.append(case.id)
        rank = found.rank
        if rank and seen.weights_gib:
            result.weights.append(_off(rank.weights, seen.weights_gib))
        if rank and seen.kv_cache_gib and seen.kv_cache_gib > 0:
            result.cache.append(_off(rank.cache, seen.kv_cache_gib))
        if found.tokens is not None and seen.kv_cache_tokens:
            tokens = result.laboratory_tokens if case.laboratory else result.field_tokens
            tokens.append(_off(found.tokens, seen.kv_cache_tokens))
    return result


def as_shipped(cases: Sequence[ObservedCase]) -> Result:
    """The estimator with its own constants."""
    return measure(cases, judge)


def left_out(cases: Sequence[ObservedCase]) -> Result:
    """Each case judged with constants that were fitted without any case of its model."""
    fitted: dict[str, Constants] = {}

    def judged(case: ObservedCase) -> Fit:
        group = _group(case)
        if group not in fitted:
            fitted[group] = fit_constants([other for other in cases if _group(other) != group])
        asked = question(case)
        return replace(asked, engine=fitted[group].of(asked.engine)).answer()

    return measure(cases, judged)


def fit_constants(cases: Iterable[ObservedCase]) -> Constants:
    """Least squares over the runs whose peak is the sampler's: peak = copies x logits + hidden x hidden states."""
    rows = list(_rows(cases))
    names = ("before", "since", "hidden")
    normal = [[sum(row[a] * row[b] for row, _ in rows) for b in names] for a in names]
    right = [sum(row[a] * peak for row, peak in rows) for a in names]
    before, since, hidden = _solve(normal, right)
    return Constants(before, since, hidden)


def _rows(cases: Iterable[ObservedCase]) -> Iterator[tuple[dict[str, float], float]]:
    for case in cases:
        seen, asked = case.observed.activation_gib, question(case)
        version, rank = asked.engine.version, asked.answer().rank
        if seen is None or version is None or rank is None or case.pp > 1:
            continue
        logits = asked.step.sequences * asked.model.vocabulary * LOGIT_BYTES / GIB
        hidden = asked.step.tokens * asked.model.hidden * 2 / GIB
        if logits * asked.engine.sampler_copies < rank.activation * SAMPLER_SHARE:
            continue
        old = version[:2] < (0, 17)
        yield {"before": logits if old else 0.0, "since": 0.0 if old else logits, "hidden": hidden}, seen


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [rows[row][size] / rows[row][row] for row in range(size)]


def _group(case: ObservedCase) -> str:
    return case.model.rpartition("/")[2].lower()


def _off(estimate: float, seen: float) -> float:
    return estimate / seen - 1


def median(errors: Sequence[float]) -> float:
    """Median of the absolute errors; 0 without any."""
    return statistics.median(map(abs, errors)) if errors else 0.0


def share_within(errors: Sequence[float], bound: float) -> float:
    """Share of the errors within a bound; 1 without any."""
    return sum(abs(error) <= bound for error in errors) / len(errors) if errors else 1.0

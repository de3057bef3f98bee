"""The estimator against runs that were observed, with its own constants and with constants that never saw the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bench.calibration import (
    ObservedCase,
    Result,
    as_shipped,
    fit_constants,
    left_out,
    median,
    observed_cases,
    share_within,
)
from lantau.capacity.cases import answer, judge

CASES = observed_cases()


@pytest.fixture(scope="module", params=[as_shipped, left_out], ids=["as shipped", "each model left out"])
def result(request: pytest.FixtureRequest) -> Result:
    judged: Callable[[Sequence[ObservedCase]], Result] = request.param
    return judged(CASES)


def test_every_observed_case_is_answered(result: Result) -> None:
    assert result.judged == 30
    assert result.unknown == []


def test_weights_are_within_half_a_percent_by_the_median_and_three_percent_nearly_always(result: Result) -> None:
    assert len(result.weights) > 20
    assert median(result.weights) <= 0.005
    assert share_within(result.weights, 0.03) >= 0.95


def test_tokens_of_laboratory_runs_are_within_two_percent_by_the_median(result: Result) -> None:
    assert len(result.laboratory_tokens) > 15
    assert median(result.laboratory_tokens) <= 0.02


def test_tokens_of_field_reports_are_within_ten_percent_by_the_median(result: Result) -> None:
    assert len(result.field_tokens) >= 2
    assert median(result.field_tokens) <= 0.10


def test_nothing_that_failed_is_said_to_fit(result: Result) -> None:
    assert result.false_fits == []


def test_at_most_one_in_twenty_is_refused_wrongly_and_fifteen_percent_stay_open(result: Result) -> None:
    assert len(result.false_refusals) <= 0.05 * result.judged
    assert len(result.marginal) <= 0.15 * result.judged


def test_the_shipped_constants_are_those_that_the_observations_give() -> None:
    constants = fit_constants(CASES)
    from lantau.capacity.engines import engine_of

    before, since = engine_of("vllm", "0.11.0", fabric=True), engine_of("vllm", "0.19.0", fabric=True)
    assert before.sampler_copies == pytest.approx(constants.copies_before, rel=0.01)
    assert since.sampler_copies == pytest.approx(constants.copies_since, rel=0.01)
    assert since.hidden_copies == pytest.approx(constants.hidden, rel=0.15)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_an_answer_does_not_depend_on_what_was_observed_or_noted(case: ObservedCase) -> None:
    blind = case.model_copy(update={"id": "blind", "observed": None})
    assert answer(blind, judge(blind)) == {**answer(case, judge(case)), "id": "blind"}

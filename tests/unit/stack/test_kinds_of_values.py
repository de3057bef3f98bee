"""Numbers are numbers and texts are texts: nothing that YAML read as another kind is converted silently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lantau.modelling import parse
from lantau.platform import load_platform
from lantau.problems import InvalidInput
from lantau.release import Release, read_release

PROJECT = Path(__file__).parents[3]
Refusal = Callable[[Callable[[dict[str, Any]], None]], InvalidInput]


@pytest.mark.parametrize(
    ("value", "says"),
    [(True, "not true or false"), ("2", "without quotes"), (2.5, "integer"), (float("inf"), "finite")],
)
def test_a_number_is_a_number(refusal: Refusal, value: object, says: str) -> None:
    (problem,) = refusal(lambda stack: stack["models"]["chat"].update(replicas=value)).problems
    assert problem.where == "config.lantau:stack.models.chat.replicas"
    assert problem.line
    assert says in problem.message


@pytest.mark.parametrize("value", ["yes", 1, "true"])
def test_a_switch_is_true_or_false(refusal: Refusal, value: object) -> None:
    (problem,) = refusal(lambda stack: stack.update(protect_data=value)).problems
    assert "true or false" in problem.message


def test_a_whole_number_may_have_a_point(project: Path, stack_data: dict[str, Any]) -> None:
    stack_data["business"]["backend"]["replicas"] = 2.0
    assert load_platform(project, "sandbox", stack_data).stack.business.backend.replicas == 2


@pytest.mark.parametrize("value", [0.18, 18, True])
def test_a_version_without_quotes_is_told_to_take_quotes(value: object) -> None:
    data = read_release(PROJECT, "chat", "qwen3-8b-r1").model_dump(mode="json")
    data["engine"]["version"] = value
    with pytest.raises(InvalidInput) as caught:
        parse(Release, data, source=None)
    (problem,) = caught.value.problems
    assert "put it in quotes" in problem.message
    assert problem.fix == 'version: "0.19.0"'


def test_true_is_no_number_of_cards() -> None:
    data = read_release(PROJECT, "chat", "qwen3-8b-r1").model_dump(mode="json")
    data["parameters"]["tensor_parallel_size"] = True
    with pytest.raises(InvalidInput, match="tensor_parallel_size: this is a number"):
        parse(Release, data, source=None)

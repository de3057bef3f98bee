"""`lantau advise`: machines that S2 names, sized by users, with what must hold before the next stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lantau.cli import app
from lantau.stack.model import ScenarioName


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["advise", *arguments])


def stages(*arguments: str) -> dict[str, dict[str, Any]]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return {line["stage"]: line for line in map(json.loads, result.stdout.splitlines())}


@pytest.mark.parametrize("scenario", list(ScenarioName))
def test_every_scenario_goes_from_test_to_growth_with_reasons(scenario: ScenarioName) -> None:
    found = stages("--scenario", scenario)
    assert list(found) == ["test", "gray", "production", "growth"]
    assert all(stage["why"] and stage["goal"] and stage["before_next"] for stage in found.values())
    assert found["test"]["watts"] < found["growth"]["watts"]


def test_the_assistant_starts_on_an_rtx_4090_and_serves_on_a100s() -> None:
    found = stages("--scenario", "assistant")
    cards = {stage: line["models"][0]["card"] for stage, line in found.items()}
    assert cards["test"] == "rtx-4090"
    assert cards["production"].startswith("a100")


def test_more_users_need_more_replicas_and_machines_and_one_machine_may_fail() -> None:
    few, many = (
        stages("--scenario", "assistant", "--users", "200"),
        stages("--scenario", "assistant", "--users", "200000"),
    )
    online = {name: _pool(found["production"], "online") for name, found in (("few", few), ("many", many))}
    assert online["many"]["nodes"] > online["few"]["nodes"]
    model = many["production"]["models"][0]
    assert model["replicas"] == model["size"]["needed"] + 1
    per_node = 2
    assert (online["many"]["nodes"] - 1) * per_node >= model["replicas"]


def _pool(stage: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (pool for pool in stage["pools"] if pool["pool"] == name)
    return dict(found)


def test_sizes_are_ranges_around_what_is_likely() -> None:
    size = stages("--scenario", "knowledge", "--users", "50000", "--price-card-hour", "1.5")["production"]["models"][0][
        "size"
    ]
    assert size["fleet"]["low"] <= size["replicas"] <= size["fleet"]["high"]
    assert size["per_million_tokens"]["low"] <= size["per_million_tokens"]["likely"]


def test_the_verdict_is_that_of_fit() -> None:
    model = stages("--scenario", "assistant", "--model", "Qwen/Qwen3-32B")["test"]["models"][0]
    assert model["verdict"] == "does not fit"
    assert "GiB of weights" in model["reason"]


def test_test_and_gray_are_not_sized_for_everyone() -> None:
    found = stages("--scenario", "assistant", "--users", "1000000")
    assert _pool(found["gray"], "online")["nodes"] == 1
    assert found["gray"]["models"][0]["size"] is None


def test_a_stack_tells_its_scenario_and_where_it_is(tmp_path: Path) -> None:
    CliRunner().invoke(app, ["new", "media", "--stage", "gray", "--root", str(tmp_path)])
    result = run("--stack", "media-gray", "--root", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "gray  <- the stack is here" in result.stdout


def test_one_stage_can_be_asked_for() -> None:
    assert list(stages("--scenario", "images", "--stage", "production")) == ["production"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name one of both"),
        (("--scenario", "assistant", "--stack", "x"), "name one of both"),
        (("--scenario", "assistant", "--model", "no/such-model"), "config.json"),
        (("--stack", "hk-prod", "--root", str(Path(__file__).parents[3])), "names no scenario"),
        (("--scenario", "assistant", "--users", "0"), "--users"),
        (("--scenario", "chat"), "--scenario"),
    ],
)
def test_wrong_input_is_refused_with_what_would_be_right(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr

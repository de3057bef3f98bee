"""`lantau rollout`: where a stack stands, whom it lets in, and what comes next."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lantau.cli import app
from lantau.stack.plan import PLAN, SHORTEST_DAYS, following
from lantau.stack.rollout import Step

PROJECT = Path(__file__).parents[3]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["rollout", *arguments])


def told(root: Path, stack: str) -> dict[str, Any]:
    result = run(stack, "--root", str(root), "--json")
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


@pytest.fixture
def at(tmp_path: Path) -> Any:
    """A production stack of the project at another step."""

    def write(step: str) -> Path:
        text = (PROJECT / "Pulumi.hk-prod.yaml").read_text()
        assert "step: everyone" in text
        (tmp_path / "Pulumi.hk-prod.yaml").write_text(text.replace("step: everyone", f"step: {step}"))
        return tmp_path

    return write


def test_every_step_has_its_week_in_order_and_demands_something() -> None:
    assert list(PLAN) == list(Step)
    assert all(week.holds for week in PLAN.values())
    assert [following(step) for step in Step] == [*list(Step)[1:], None]


@pytest.mark.parametrize(
    ("step", "inside"),
    [
        ("team", {"platform-team"}),
        ("internal", {"platform-team", "office"}),
        ("partial", {"platform-team", "office", "default"}),
        ("everyone", {"platform-team", "office", "default"}),
    ],
)
def test_clients_are_let_in_step_by_step(at: Any, step: str, inside: set[str]) -> None:
    clients = told(at(step), "hk-prod")["clients"]
    assert {each["client"] for each in clients if each["rate"]} == inside


def test_the_public_gets_its_share_only(at: Any) -> None:
    rates = {each["client"]: each["rate"] for each in told(at("partial"), "hk-prod")["clients"]}
    assert rates["default"] == rates["office"] // 10


def test_the_next_step_comes_a_week_later_at_the_earliest(at: Any) -> None:
    found = told(at("internal"), "hk-prod")
    assert found["next"] == "partial"
    assert date.fromisoformat(found["next_from"]) == date.fromisoformat(found["since"]) + timedelta(days=SHORTEST_DAYS)


def test_a_person_sees_where_the_stack_stands_and_what_must_hold(at: Any) -> None:
    printed = run("hk-prod", "--root", str(at("internal"))).stdout
    assert "-> internal" in printed
    assert "not let in yet" in printed
    assert "must hold: " in printed


def test_a_stack_without_a_roll_out_is_told_how_to_get_one() -> None:
    result = run("hk-test", "--root", str(PROJECT))
    assert result.exit_code == 2
    assert "rollout: {step: team" in result.stderr

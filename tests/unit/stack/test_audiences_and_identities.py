"""Who is let in at which step, and who has which role."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lantau.problems import InvalidInput
from lantau.stack import Rollout, load_stack, parse_stack

PROJECT = Path(__file__).parents[3]
Refusal = Callable[[Callable[[dict[str, Any]], None]], InvalidInput]

REACHED = {
    "team": {"lab"},
    "internal": {"lab", "office"},
    "partial": {"lab", "office", "web"},
    "everyone": {"lab", "office", "web"},
    "growth": {"lab", "office", "web"},
}


@pytest.mark.parametrize("step", REACHED)
def test_each_step_keeps_whom_the_steps_before_let_in(step: str) -> None:
    rollout = Rollout.model_validate(
        {"step": step, "since": "2026-11-30", "audiences": {"team": ["lab"], "internal": ["office"]}}
    )
    assert {client for client in ("lab", "office", "web") if rollout.reached(client)} == REACHED[step]


def test_the_day_is_the_same_however_pulumi_hands_it_over() -> None:
    days = {
        Rollout.model_validate({"step": "team", "since": since}).since
        for since in ("2026-11-30", "2026-11-30T00:00:00Z")
    }
    assert {str(day) for day in days} == {"2026-11-30"}


@pytest.mark.parametrize(
    ("change", "where", "says"),
    [
        (
            lambda s: s["rollout"]["audiences"].update(team=["defalt"]),
            "rollout.audiences.team[0]",
            'Did you mean "default"?',
        ),
        (lambda s: s["rollout"].update(step="team"), "rollout.step", "nobody is let in at step team"),
        (
            lambda s: s["rollout"]["audiences"].update(team=["default"]),
            "rollout.audiences.internal",
            "already in team",
        ),
        (lambda s: s["rollout"].update(share=60), "rollout.share", "less than or equal to 50"),
        (lambda s: s["rollout"].update(since="soon"), "rollout.since", "valid date"),
        (lambda s: s["network"].update(route="cn3"), "network.route", "'cn2'"),
        (lambda s: s["network"].update(bandwidth_mbps="100M"), "network.bandwidth_mbps", "a number, without quotes"),
        (
            lambda s: s["identities"].update(platform_admin=["system:masters"]),
            "identities.platform_admin[0]",
            "a group of the cluster itself",
        ),
        (
            lambda s: s["identities"].update(auditor=["oidc:ai-release"]),
            "identities.auditor",
            "would audit itself",
        ),
        (lambda s: s["retention"].update(audit_days=30), "retention.audit_days", "greater than or equal to 90"),
        (lambda s: s["retention"].update(audit_days=400), "retention.archive_days", "the archive keeps the longest"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_line(
    refusal: Refusal, change: Callable[[dict[str, Any]], None], where: str, says: str
) -> None:
    (problem,) = refusal(change).problems
    assert problem.where == f"config.lantau:stack.{where}"
    assert says in problem.message
    assert problem.line


def test_without_a_roll_out_every_client_is_let_in_with_all_its_requests() -> None:
    data = load_stack(PROJECT, "hk-test").model_dump(mode="json")
    data["business"].update(clients=["web", "lab"], requests_per_second=7)
    stack = parse_stack(data)
    assert stack.clients_let_in == ("lab", "web")
    assert stack.requests_per_second("web") == 7

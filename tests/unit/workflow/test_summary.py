"""The summary: what runs, what does not, and nothing that is secret."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lantau.platform import Platform, load_platform
from workflow.cluster import ClusterView, PoolView, ReleaseView, WorkloadView
from workflow.events import Outcome, Violation
from workflow.summary import Hint, render
from workflow.target import SANDBOX_HINTS, hints_for

PROJECT = Path(__file__).parents[3]

VIEW = ClusterView(
    pools=[
        PoolView("business", "business", ready=2, nodes=2, cards=0, cards_used=0),
        PoolView("online-a100", "online", ready=2, nodes=2, cards=16, cards_used=4),
        PoolView("offline-4090", "offline", ready=1, nodes=1, cards=8, cards_used=8),
    ],
    releases=[
        ReleaseView("chat", "qwen3-8b-r1", "stable", 95, WorkloadView(4, 4)),
        ReleaseView("chat", "qwen3-8b-r2", "canary", 5, WorkloadView(1, 1)),
        ReleaseView("chat", "qwen3-8b-r0", "previous", 0, WorkloadView(1, 1)),
    ],
    workloads={"lantau-business/backend": WorkloadView(2, 2), "lantau-vector/qdrant": WorkloadView(1, 1)},
    gateways=[("edge", "HTTPS 443 ai.sandbox.example.hk")],
    secrets=[("lantau-business", "queue-acl", True), ("lantau-vector", "qdrant-config", True)],
    volumes=[("lantau-vector/storage-qdrant-0", "20Gi", "Bound")],
    jobs=[("embed-archive-1a2b3c4d", 4, 2, 8)],
)


@pytest.fixture(scope="module")
def platform() -> Platform:
    return load_platform(PROJECT, "sandbox")


def shown(
    platform: Platform,
    view: ClusterView = VIEW,
    outcome: Outcome | None = None,
    hints: Sequence[Hint] = SANDBOX_HINTS,
    width: int = 80,
) -> str:
    console = Console(width=width, force_terminal=False)
    with console.capture() as captured:
        console.print(render(platform, view, outcome, hints))
    return captured.get()


def line(text: str, word: str) -> str:
    (found,) = (each for each in text.splitlines() if word in each)
    return found


def test_releases_are_shown_with_role_weight_and_pods(platform: Platform) -> None:
    text = shown(platform)
    assert line(text, "qwen3-8b-r1").split()[1:-1] == ["chat", "qwen3-8b-r1", "stable", "95", "%", "4/4", "ready"]
    assert line(text, "qwen3-8b-r2").split()[1:-1] == ["chat", "qwen3-8b-r2", "canary", "5", "%", "1/1", "ready"]


def test_every_tier_is_shown(platform: Platform) -> None:
    text = shown(platform)
    assert "HTTPS 443 ai.sandbox.example.hk" in line(text, "edge")
    assert "20Gi Bound" in line(text, "storage-qdrant-0")
    assert "4 running, 2 of 8 done" in line(text, "embed-archive")
    assert "synced from the managed store" in line(text, "queue-acl")
    assert platform.fingerprint in text


def test_cards_in_use_are_a_bar_in_proportion(platform: Platform) -> None:
    text = shown(platform)
    assert "■" * 4 + "□" * 12 + " 4/16" in line(text, "online-a100")
    assert "■" * 8 + " 8/8" in line(text, "offline-4090")
    assert "–" in next(row for row in text.splitlines() if "business" in row), "a pool without cards has no bar"
    many = replace(VIEW, pools=[PoolView("large", "online", ready=20, nodes=20, cards=160, cards_used=40)])
    assert "■" * 4 + "□" * 12 + " 40/160" in shown(platform, many)


def test_what_is_not_ready_is_said_and_marked(platform: Platform) -> None:
    view = replace(
        VIEW,
        pools=[PoolView("data", "data", ready=1, nodes=2, cards=0, cards_used=0)],
        workloads={"lantau-business/backend": WorkloadView(0, 2)},
        secrets=[("lantau-business", "queue-acl", False)],
        volumes=[("lantau-vector/storage-qdrant-0", "20Gi", "Pending")],
    )
    console = Console(width=80, force_terminal=True, color_system="standard", no_color=False)
    with console.capture() as captured:
        console.print(render(platform, view, None, []))
    red = "\x1b[31m"
    for state in ("1/2 ready", "0/2 ready", "not synced", "20Gi Pending"):
        assert f"{red}{state}" in captured.get()


def test_the_outcome_counts_changes_and_policies(platform: Platform) -> None:
    outcome = Outcome(
        changes=Counter({"create": 3, "update": 1, "delete": 2, "same": 90}),
        policies={"a", "b", "c"},
        violations=[Violation("c", "advisory", "urn", "better so")],
        seconds=12,
    )
    text = shown(platform, outcome=outcome)
    assert "3 created, 2 deleted, 1 updated in 12 s" in line(text, "changes")
    assert "3 of 3 passed, 1 advice" in line(text, "policies")
    unchanged = Outcome(changes=Counter({"same": 96}), seconds=2)
    assert "no changes in 2 s" in shown(platform, outcome=unchanged)


def test_a_plain_status_has_no_outcome(platform: Platform) -> None:
    assert "what was done" not in shown(platform)


@pytest.mark.parametrize("stack", sorted(path.name.split(".")[1] for path in PROJECT.glob("Pulumi.*.yaml")))
def test_nothing_is_cut_or_folded_in_80_columns(stack: str) -> None:
    platform = load_platform(PROJECT, stack)
    outcome = Outcome(changes=Counter({"create": 123, "update": 17}), policies=set(map(str, range(75))), seconds=100)
    narrow, wide = (shown(platform, outcome=outcome, hints=hints_for(platform), width=width) for width in (80, 120))
    assert "…" not in narrow
    inside = [[row.strip("│ ") for row in text.splitlines()][1:-1] for text in (narrow, wide)]
    assert inside[0] == inside[1]


def test_hints_stand_below_each_other(platform: Platform) -> None:
    rows = [line(shown(platform), command) for command, _ in SANDBOX_HINTS]
    columns = {row.index(what) for row, (_, what) in zip(rows, SANDBOX_HINTS, strict=True)}
    assert len(columns) == 1


def test_an_empty_cluster_is_shown_as_empty(platform: Platform) -> None:
    assert "look further" in shown(platform, ClusterView())

"""What is read from the engine's event log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workflow.events import Outcome, Violation, plain_text, read_outcome

URN = "urn:pulumi:dev::trial::kubernetes:core/v1:Service"


def read(tmp_path: Path, *events: dict[str, Any], tail: str = "") -> Outcome:
    log = tmp_path / "events.jsonl"
    log.write_text("".join(f"{json.dumps(event)}\n" for event in events) + tail)
    return read_outcome(log)


def step(kind: str, operation: str, name: str) -> dict[str, Any]:
    return {kind: {"metadata": {"op": operation, "urn": f"{URN}::{name}"}}}


def test_changes_and_duration_come_from_the_summary(tmp_path: Path) -> None:
    changes = {"create": 2, "same": 90, "refresh": 3}
    outcome = read(tmp_path, {"summaryEvent": {"resourceChanges": changes, "durationSeconds": 12}})
    assert outcome.changes == changes
    assert (outcome.changed, outcome.seconds) == (2, 12)


def test_what_was_left_alone_is_no_change(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        step("resourcePreEvent", "same", "quiet"),
        step("resourceOutputsEvent", "refresh", "seen"),
        {"summaryEvent": {"resourceChanges": {"same": 1, "read": 1, "refresh": 1}}},
    )
    assert (outcome.changed, outcome.steps) == (0, [])


def test_a_step_is_told_once_although_its_begin_and_its_end_are_logged(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        step("resourcePreEvent", "create", "one"),
        step("resourcePreEvent", "update", "two"),
        step("resOutputsEvent", "create", "one"),
    )
    assert outcome.touched() == [
        ("create", "kubernetes:core/v1:Service::one"),
        ("update", "kubernetes:core/v1:Service::two"),
    ]


def test_a_finding_of_a_policy_names_policy_level_and_resource(tmp_path: Path) -> None:
    found = {
        "policyName": "no-key",
        "enforcementLevel": "mandatory",
        "resourceUrn": URN,
        "message": "<{%fg 1%}>a key<{%reset%}> stands here\n",
    }
    outcome = read(tmp_path, {"policyEvent": found})
    assert outcome.violations == [Violation("no-key", "mandatory", URN, "a key stands here")]


def test_policies_that_ran_are_counted_once_whatever_they_found(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        {"policyAnalyzeSummaryEvent": {"passed": ["a", "b"], "failed": None}},
        {"policyAnalyzeSummaryEvent": {"passed": ["a"], "failed": ["b"]}},
        {"policyAnalyzeStackSummaryEvent": {"failed": ["c"]}},
    )
    assert outcome.policies == {"a", "b", "c"}


def test_only_errors_are_taken_from_what_was_said(tmp_path: Path) -> None:
    said = [("error", "<{%fg 1%}>refused<{%reset%}>"), ("warning", "careful"), ("info#err", "a line")]
    events = [{"diagnosticEvent": {"severity": level, "message": message}} for level, message in said]
    assert read(tmp_path, *events).errors == ["refused"]


def test_an_interruption_is_seen_whatever_the_exit_code_says(tmp_path: Path) -> None:
    said = "^C received; cancelling. If you would like to terminate immediately, press ^C again.\n"
    assert read(tmp_path, {"stdoutEvent": {"message": said}}).interrupted
    assert not read(tmp_path, {"stdoutEvent": {"message": "a program's line"}}).interrupted


def test_half_a_line_of_a_killed_engine_is_passed_over(tmp_path: Path) -> None:
    outcome = read(tmp_path, step("resOutputsEvent", "create", "one"), tail='{"resOutputsEvent": {"meta')
    assert len(outcome.steps) == 1


def test_half_a_character_of_a_killed_engine_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    log.write_bytes(json.dumps(step("resOutputsEvent", "create", "one")).encode() + b'\n{"message": "caf\xc3')
    assert len(read_outcome(log).steps) == 1


def test_an_engine_that_never_began_did_nothing(tmp_path: Path) -> None:
    assert read_outcome(tmp_path / "nothing") == Outcome()


def test_colour_marks_go_and_other_brackets_stay() -> None:
    assert plain_text("<{%bold%}>a<{%reset%}> <b> {c} <{%unfinished") == "a <b> {c} <{%unfinished"

"""`lantau new`: every business at every stage is a stack that passes, and nothing that is there is touched."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lantau.cli import app
from lantau.platform import load_platform
from lantau.problems import InvalidInput
from lantau.scenarios.writing import DIGEST
from lantau.stack.model import ScenarioName, Stage

EVERY = [(scenario, stage) for scenario in ScenarioName for stage in Stage]


def run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["new", *arguments, "--root", str(root)])


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(("scenario", "stage"), EVERY, ids=[f"{scenario}-{stage}" for scenario, stage in EVERY])
def test_a_new_stack_passes_every_rule_of_its_stage_and_fits_its_cards(
    tmp_path: Path, scenario: ScenarioName, stage: Stage
) -> None:
    result = run(tmp_path, scenario, "--stage", stage)
    assert result.exit_code == 0, result.output
    platform = load_platform(tmp_path, f"{scenario}-{stage}")
    assert platform.stack.scenario is scenario
    assert platform.stack.stage is stage
    assert platform.warnings == ()


def test_what_must_be_replaced_is_marked_where_it_stands(tmp_path: Path) -> None:
    run(tmp_path, "media", "--stage", "production")
    for text in tree(tmp_path).values():
        for line in text.splitlines():
            if DIGEST in line:
                assert "# replace:" in line, line
    stack = (tmp_path / "Pulumi.media-production.yaml").read_text()
    marks = ("context: ", "online: {", "offline: {", "account: ", " host: ", "bucket: ", "platform_admin: ", "since: ")
    for mark in marks:
        (line,) = (line for line in stack.splitlines() if mark in line)
        assert "# replace:" in line, line


def test_a_live_stack_comes_with_the_one_exception_that_it_needs_with_reason_and_end(tmp_path: Path) -> None:
    run(tmp_path, "assistant", "--stage", "production")
    content = json.loads((tmp_path / "Policies.assistant-production.json").read_text())
    (exception,) = content["pack-settings"]["exceptions"]
    assert exception["rule"] == "AVL-01"
    assert exception["reason"]
    assert date.fromisoformat(exception["expires"]) > datetime.now(UTC).date()
    run(tmp_path, "assistant", "--stage", "gray")
    assert not (tmp_path / "Policies.assistant-gray.json").exists()


def test_the_next_steps_are_told_with_the_stacks_own_name(tmp_path: Path) -> None:
    printed = run(tmp_path, "assistant", "--name", "hk-trial").stdout
    assert "written  Pulumi.hk-trial.yaml" in printed
    assert "lantau check hk-trial" in printed


def test_a_second_run_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    run(tmp_path, "assistant")
    before = tree(tmp_path)
    result = run(tmp_path, "assistant")
    assert isinstance(result.exception, InvalidInput)
    assert "Pulumi.assistant-test.yaml: is there already" in str(result.exception)
    assert tree(tmp_path) == before


def test_two_stages_share_the_release_that_both_start_with(tmp_path: Path) -> None:
    run(tmp_path, "assistant")
    result = run(tmp_path, "assistant", "--stage", "gray")
    assert "kept     releases/assistant/qwen3-8b-r1.yaml" in result.stdout


def test_a_release_that_was_edited_is_not_overwritten_and_no_stack_is_left_behind(tmp_path: Path) -> None:
    run(tmp_path, "assistant")
    release = tmp_path / "releases/assistant/qwen3-8b-r1.yaml"
    release.write_text(release.read_text().replace("max_num_seqs: 32", "max_num_seqs: 16"))
    before = tree(tmp_path)
    result = run(tmp_path, "assistant", "--stage", "gray")
    assert "releases/assistant/qwen3-8b-r1.yaml: is there already" in str(result.exception)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["../escape", "a/b", "", "-x", "a b"])
def test_a_name_that_is_none_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    result = run(tmp_path, "assistant", f"--name={name}")
    if name:
        assert isinstance(result.exception, InvalidInput)
        assert tree(tmp_path) == {}
    else:
        assert (tmp_path / "Pulumi.assistant-test.yaml").exists(), "an empty name is one that was left out"


@pytest.mark.parametrize("word", ["assistent", "chat", ""])
def test_an_unknown_scenario_is_refused_with_those_that_there_are(tmp_path: Path, word: str) -> None:
    result = run(tmp_path, word)
    assert result.exit_code == 2
    assert "knowledge" in result.output


def test_a_folder_in_the_place_of_the_stack_file_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.assistant-test.yaml").mkdir()
    result = run(tmp_path, "assistant")
    assert isinstance(result.exception, InvalidInput)
    assert tree(tmp_path) == {}


def test_a_file_in_the_place_of_the_releases_folder_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "releases").write_text("not a folder\n")
    result = run(tmp_path, "assistant")
    assert isinstance(result.exception, InvalidInput)
    assert "cannot be written" in str(result.exception)
    assert set(tree(tmp_path)) == {"releases"}


def test_a_full_disk_in_the_midst_takes_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link
    calls = []

    def full(*arguments: object, **named: object) -> None:
        calls.append(arguments)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        link(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", full)
    result = run(tmp_path, "assistant")
    assert "No space left on device" in str(result.exception)
    assert tree(tmp_path) == {}

"""What the user sees: a log that stays short, a bar that is gone at the end."""

import io
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from sandbox.engine import disk, progress
from sandbox.errors import SandboxError


def test_a_log_gets_a_line_every_fifteen_seconds_at_most() -> None:
    told: list[str] = []
    now = 0.0
    reporter = progress.LogReporter(told.append, lambda: now)
    reporter.begin("1/2 pulumi", 1000)
    for tenth in range(600):
        now = tenth / 10
        reporter.update(tenth, "packages, 5 min left")
    reporter.end("1/2 pulumi built in 60 s")
    assert told == [
        "1/2 pulumi ...",
        "1/2 pulumi: 150/1000 packages, 5 min left",
        "1/2 pulumi: 300/1000 packages, 5 min left",
        "1/2 pulumi: 450/1000 packages, 5 min left",
        "1/2 pulumi built in 60 s",
    ]


def test_a_terminal_shows_one_bar_and_keeps_what_was_said() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    with progress.LiveReporter(console) as reporter:
        reporter.say("two [programs] are missing")
        reporter.begin("2/2 pulumi-resource-kubernetes", 1749)
        reporter.update(1250, "packages, 12 min left")
        reporter._progress.refresh()
        reporter.end("1/2 pulumi built in 60 s")
    text = screen.getvalue()
    assert "…" not in text
    for part in (
        "two [programs] are missing",
        "2/2 pulumi-resource-kubernetes",
        "1250/1749 packages, 12 min left",
        "built in 60 s",
    ):
        assert part in text


def test_a_function_gets_plain_lines() -> None:
    told: list[str] = []
    progress.reporter_for(told.append).say("hello")
    assert told == ["hello"]


def test_without_a_terminal_lines_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    progress.reporter_for(None).say("hello")
    assert capsys.readouterr() == ("", "hello\n")


def test_needs_on_one_disk_are_added_up(tmp_path: Path) -> None:
    needs = [disk.Need(tmp_path / name, 600, f"the {name}", name.upper()) for name in ("cache", "modules")]
    disk.check(needs, lambda _path: 1_200_000_000)
    with pytest.raises(SandboxError, match=r"1\.2 GB needed, 1\.2 GB free|1\.2 GB needed, 1\.1 GB free"):
        disk.check(needs, lambda _path: 1_150_000_000)


def test_free_room_is_asked_of_the_folder_that_exists(tmp_path: Path) -> None:
    assert disk.free_bytes(tmp_path / "not" / "yet") == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.2)

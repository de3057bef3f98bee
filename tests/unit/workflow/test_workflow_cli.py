"""The commands behind `make`: what a person can mend is one clear text and an exit code, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from workflow import cli
from workflow.errors import WorkflowError

PROJECT = Path(__file__).parents[3]


def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workflow", *arguments],
        cwd=PROJECT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("command", ["up", "preview", "status", "destroy"])
def test_a_stack_that_does_not_exist_is_told_with_the_nearest_one(command: str) -> None:
    done = run(command, "--stack", "hk-prd")
    assert done.returncode == 2
    assert "hk-prd" in done.stderr
    assert "hk-prod" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("error", "code"), [(WorkflowError("do this"), 1), (SandboxError("do this"), 1), (KeyboardInterrupt(), 130)]
)
def test_an_error_for_people_is_its_text_and_an_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "load_platform", fail)
    monkeypatch.setattr(sys, "argv", ["workflow", "status"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr().err.strip()
    assert ended.value.code == code
    assert printed in ("do this", "")


def test_a_status_before_any_up_says_how_to_begin(tmp_path: Path) -> None:
    done = run("status", env={"XDG_STATE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.strip() == "the sandbox does not run. Start it with: make up"


def test_down_when_nothing_runs_says_so_and_is_success(tmp_path: Path) -> None:
    done = run("down", env={"XDG_STATE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert done.returncode == 0
    assert done.stderr.strip() == "nothing of the sandbox was running"

"""Stacks whose state we keep: the checkout stays clean, locks of the dead go, and every end of a run is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.workflow.fake_pulumi import FakePulumi
from workflow.errors import WorkflowError
from workflow.pulumi import StackCommand

SALT = "encryptionsalt: v1:abc=\n"


@pytest.fixture
def command(project: Path, pulumi: FakePulumi, tmp_path: Path) -> StackCommand:
    """A stack kept in a folder of the test; making it writes the salt as Pulumi does, into the folder it runs in."""
    pulumi.answer("stack", "ls", out="[]")
    pulumi.answer("stack", "init", writes={"Pulumi.dev.yaml": SALT})
    env = {"PULUMI_BACKEND_URL": f"file://{tmp_path / 'backend'}?metadata=skip"}
    return StackCommand(
        project, "dev", pulumi.engine(), env, state_dir=tmp_path / "stack", transcript=tmp_path / "transcript.txt"
    )


def content(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_checkout_stays_clean_and_the_salt_reaches_pulumi(
    command: StackCommand, project: Path, pulumi: FakePulumi
) -> None:
    before = content(project)
    command.prepare()
    command.up()
    (call,) = pulumi.calls("up")
    assert call["folder"] == str(project)
    assert "trial:stack" in call["config"]
    assert call["config"].endswith(SALT)
    assert content(project) == before


def test_a_stack_is_made_once(command: StackCommand, pulumi: FakePulumi) -> None:
    command.prepare()
    pulumi.answer("stack", "ls", out='[{"name": "organization/trial/dev"}]')
    command.prepare()
    assert len(pulumi.calls("stack", "init")) == 1
    command.up()
    assert pulumi.calls("up")[0]["config"].endswith(SALT)


def test_changed_config_is_taken_up_at_the_next_run(command: StackCommand, project: Path, pulumi: FakePulumi) -> None:
    command.prepare()
    command.up()
    (project / "Pulumi.dev.yaml").write_text("config:\n  trial:stack: {stage: changed}\n")
    command.preview()
    assert "stage: changed" in pulumi.calls("preview")[0]["config"]


def test_a_run_gets_the_policy_pack_and_asks_nothing(command: StackCommand, project: Path, pulumi: FakePulumi) -> None:
    command.prepare()
    command.up()
    arguments = pulumi.calls("up")[0]["arguments"]
    assert "--yes" in arguments
    assert arguments[arguments.index("--policy-pack") + 1] == str(project / "policies")
    assert "--policy-pack-config" not in arguments


def test_settings_of_the_pack_beside_the_stacks_file_reach_the_pack(
    command: StackCommand, project: Path, pulumi: FakePulumi
) -> None:
    (project / "Policies.dev.json").write_text("{}")
    (project / "Policies.other.json").write_text("{}")
    command.prepare()
    command.preview()
    arguments = pulumi.calls("preview")[0]["arguments"]
    assert arguments[arguments.index("--policy-pack-config") + 1] == str(project / "Policies.dev.json")


def test_accounts_of_the_user_do_not_reach_a_stack_that_we_keep(
    command: StackCommand, pulumi: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile or an endpoint of theirs would win over the stand-in for AWS."""
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", "https://real.example")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "theirs")
    command.prepare()
    command.up()
    for call in pulumi.calls():
        assert not {"AWS_PROFILE", "AWS_ENDPOINT_URL_SECRETS_MANAGER", "PULUMI_CONFIG_PASSPHRASE"} & set(
            call["environment"]
        )


@pytest.fixture
def living(tmp_path: Path) -> Iterator[int]:
    """The number of a living process called `pulumi`."""
    program = tmp_path / "another" / "pulumi"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable} -IS\nprint(flush=True)\ninput()\n")
    program.chmod(0o755)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate(b"\n")


def lock(command: StackCommand, pid: int | None, stack: str = "dev") -> Path:
    backend = Path(command.env["PULUMI_BACKEND_URL"].removeprefix("file://").partition("?")[0])
    path = backend / ".pulumi" / "locks" / "organization" / "trial" / stack / "1234.json"
    path.parent.mkdir(parents=True)
    path.write_text("" if pid is None else json.dumps({"pid": pid, "username": "mei"}))
    return path


def ended() -> int:
    with subprocess.Popen([sys.executable, "-IS", "-c", ""]) as process:
        process.wait()
        return process.pid


@pytest.mark.parametrize("state", ["ended", "half written", "a number that another program has now"])
def test_the_lock_of_a_run_that_is_gone_is_cleared(command: StackCommand, state: str) -> None:
    pid = {"ended": ended(), "half written": None}.get(state, 1)
    left = lock(command, pid)
    command.prepare()
    assert not left.exists()


def test_the_lock_of_a_living_run_is_respected(command: StackCommand, living: int) -> None:
    held = lock(command, living)
    with pytest.raises(WorkflowError, match=rf"another pulumi \(process {living}\) works on stack dev\. Wait"):
        command.prepare()
    assert held.exists()


def test_the_lock_of_a_run_that_ended_unnoticed_is_cleared(command: StackCommand, tmp_path: Path) -> None:
    """Its parent was killed as well, so that nobody has waited for it: it is listed, but it is dead."""
    program = tmp_path / "pulumi"
    program.symlink_to("/bin/true")
    with subprocess.Popen([str(program)]) as gone:
        os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
        assert Path(f"/proc/{gone.pid}/comm").read_text().strip() == "pulumi"
        path = lock(command, gone.pid)
        command.prepare()
    assert not path.exists()


def test_the_lock_of_another_stack_is_none_of_ours(command: StackCommand) -> None:
    other = lock(command, ended(), stack="other")
    command.prepare()
    assert other.exists()


CANCELLED = json.dumps({"stdoutEvent": {"message": "^C received; cancelling.\n"}}) + "\n"


@pytest.mark.parametrize(
    ("code", "kill", "events"), [(1, 0, CANCELLED), (130, 0, ""), (0, signal.SIGINT, ""), (0, signal.SIGKILL, "")]
)
def test_an_interrupted_run_says_so_and_how_to_go_on(
    command: StackCommand, pulumi: FakePulumi, code: int, kill: int, events: str
) -> None:
    pulumi.answer("up", code=code, kill=kill, events=events)
    command.prepare()
    with pytest.raises(WorkflowError, match=r"pulumi up was interrupted\. The same command continues"):
        command.up()


def test_a_failed_run_tells_what_was_done_until_then(command: StackCommand, pulumi: FakePulumi) -> None:
    step = {"metadata": {"op": "create", "urn": "urn:pulumi:dev::trial::t::n"}}
    pulumi.answer("up", code=255, events=json.dumps({"resOutputsEvent": step}) + "\n", out="the reason\n")
    command.prepare()
    with pytest.raises(WorkflowError, match="pulumi up of dev failed; the reason stands above") as caught:
        command.up()
    assert caught.value.outcome.touched() == [("create", "t::n")]
    assert command.transcript is not None
    assert "the reason" in command.transcript.read_text()


def test_a_stack_that_cannot_be_made_says_why(command: StackCommand, pulumi: FakePulumi) -> None:
    pulumi.answer("stack", "init", err="error: no room on the disk\n", code=255)
    with pytest.raises(WorkflowError, match="pulumi stack init failed: error: no room on the disk"):
        command.prepare()

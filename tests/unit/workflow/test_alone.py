"""Two commands never work on the same stack at once."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from tests.unit.workflow.fake_pulumi import FakePulumi
from workflow.errors import WorkflowError
from workflow.pulumi import StackCommand


@pytest.fixture
def command(project: Path, pulumi: FakePulumi, tmp_path: Path) -> StackCommand:
    pulumi.answer("stack", "ls", out="[]")
    pulumi.answer("stack", "init", writes={"Pulumi.dev.yaml": "encryptionsalt: v1:salt\n"})
    env = {"PULUMI_BACKEND_URL": f"file://{tmp_path / 'backend'}"}
    return StackCommand(project, "dev", pulumi.engine(), env, state_dir=tmp_path / "stack")


def test_a_second_command_is_told_to_wait_and_runs_nothing(command: StackCommand, pulumi: FakePulumi) -> None:
    command.prepare()
    calls = len(pulumi.calls())
    assert command.state_dir
    with (command.state_dir / "stage" / "lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        with pytest.raises(WorkflowError, match="another command works on stack dev right now"):
            command.up()
        assert len(pulumi.calls()) == calls
    command.up()


def test_settings_of_the_kubernetes_provider_in_the_environment_do_not_reach_a_deployment(
    command: StackCommand, pulumi: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    command.prepare()
    command.up()
    assert not [name for name in pulumi.calls()[-1]["environment"] if name.startswith("PULUMI_K8S_")]

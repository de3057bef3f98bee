"""A stack of the user's own: their backend and their login are used, and what is missing is told before Pulumi asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.workflow.fake_pulumi import FakePulumi
from workflow.errors import WorkflowError
from workflow.pulumi import StackCommand
from workflow.target import credentials_of_the_user

NOT_LOGGED_IN = (
    "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions",
    "error: this command requires logging in; try running `pulumi login` first",
)


def command(project: Path, pulumi: FakePulumi, *, built: bool = False) -> StackCommand:
    return StackCommand(project, "dev", pulumi.engine(built=built), {})


def refusal(made: StackCommand) -> str:
    with pytest.raises(WorkflowError) as caught:
        made.prepare()
    return str(caught.value)


@pytest.mark.parametrize("reason", NOT_LOGGED_IN)
def test_without_a_backend_the_ways_to_choose_one_are_told(project: Path, pulumi: FakePulumi, reason: str) -> None:
    pulumi.answer("stack", err=reason, code=3)
    text = refusal(command(project, pulumi))
    assert "does not know where the state of stack dev is kept" in text
    assert "pulumi login 's3://BUCKET?region=ap-east-1'" in text
    assert "pulumi login file://~" in text
    assert "PULUMI_BACKEND_URL" in text
    assert "pulumi stack init dev" in text


def test_a_stack_that_does_not_exist_is_told_with_its_backend_and_the_command_that_makes_it(
    project: Path, pulumi: FakePulumi
) -> None:
    pulumi.answer("stack", err="error: no stack named 'dev' found", code=6)
    pulumi.answer("whoami", out="User: mei\nOrganizations: \nBackend URL: s3://state?region=ap-east-1\n")
    text = refusal(command(project, pulumi))
    assert text.startswith("s3://state?region=ap-east-1 holds no stack dev.")
    assert 'pulumi stack init dev --secrets-provider "awskms://' in text


def test_another_reason_is_told_in_pulumis_words(project: Path, pulumi: FakePulumi) -> None:
    pulumi.answer("stack", err="error: unable to open state directory", code=255)
    assert refusal(command(project, pulumi)) == "pulumi cannot open stack dev: unable to open state directory"


def test_no_question_can_be_asked_while_the_stack_is_looked_for(project: Path, pulumi: FakePulumi) -> None:
    pulumi.answer("stack", out="dev\n")
    command(project, pulumi).prepare()
    (call,) = pulumi.calls()
    assert call["arguments"] == ["stack", "--stack", "dev", "--show-name", "--non-interactive"]
    assert call["folder"] == str(project)


def test_an_engine_of_ours_is_called_by_its_place_in_the_checkout(project: Path) -> None:
    pulumi = FakePulumi(project / ".lantau" / "bin")
    pulumi.answer("stack", err=NOT_LOGGED_IN[0], code=3)
    assert ".lantau/bin/pulumi login file://~" in refusal(command(project, pulumi, built=True))


def test_the_users_own_stack_file_and_environment_are_left_as_they_are(
    project: Path, pulumi: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setenv("PULUMI_HOME", "/home/of/the/user")
    command(project, pulumi).preview()
    (call,) = pulumi.calls("preview")
    assert "--config-file" not in call["arguments"]
    assert call["environment"]["AWS_PROFILE"] == "work"
    assert call["environment"]["PULUMI_HOME"] == "/home/of/the/user"
    assert "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION" not in call["environment"]


def test_an_engine_of_ours_reads_the_login_that_the_user_made(pulumi: FakePulumi) -> None:
    ours, own = pulumi.engine(built=True), pulumi.engine()
    usual = credentials_of_the_user({}, ours)["PULUMI_CREDENTIALS_PATH"]
    assert Path(usual).is_absolute()
    assert Path(usual).name == ".pulumi"
    assert credentials_of_the_user({"PULUMI_HOME": "/theirs"}, ours) == {"PULUMI_CREDENTIALS_PATH": "/theirs"}
    assert credentials_of_the_user({"PULUMI_CREDENTIALS_PATH": "/elsewhere"}, ours) == {}
    assert credentials_of_the_user({"PULUMI_HOME": "/theirs"}, own) == {}

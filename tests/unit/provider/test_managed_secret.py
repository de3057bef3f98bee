"""`ManagedSecret` against a mocked store: its life from creation to restoration, and every interruption on the way."""

import json
from typing import Any

import pytest

from provider.errors import ProviderError
from provider.resource import Change, Say
from provider.store.client import SecretStore, StoreError
from provider.store.resource import ManagedSecret
from provider.values import UNKNOWN, Unknown
from tests.unit.provider.secret_case import NAME, URN, aws_client, inputs, value


def test_the_value_is_made_in_the_store_and_no_output_holds_it(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)

    made = value()["api-key"]
    assert len(made) == 48
    assert made not in json.dumps([state.outputs, state.inputs, state.id])
    assert state.id.startswith("arn:aws:secretsmanager:ap-east-1:")
    assert state.outputs["versionId"]
    assert state.outputs["previousVersionId"] == ""


def test_two_secrets_get_different_values(secrets: ManagedSecret, say: Say) -> None:
    secrets.create(inputs(secrets), say)
    secrets.create({**inputs(secrets), "name": f"{NAME}-2"}, say)

    assert value()["api-key"] != value(name=f"{NAME}-2")["api-key"]


def test_tags_say_whose_secret_it_is(secrets: ManagedSecret, say: Say) -> None:
    secrets.create(inputs(secrets, tags={"team": "search"}), say)

    tags = {tag["Key"]: tag["Value"] for tag in aws_client().describe_secret(SecretId=NAME)["Tags"]}
    assert len(tags.pop("lantau:holder")) == 16
    assert tags == {
        "team": "search",
        "lantau:stack": "dev",
        "lantau:managed-by": "pulumi",
        "lantau:epoch": "1",
        "lantau:field:api-key": "random length=48 alphabet=alphanumeric rotate=yes",
    }


def test_a_create_repeated_after_a_crash_adopts_the_secret_with_its_value(secrets: ManagedSecret, say: Say) -> None:
    first = secrets.create(inputs(secrets), say)
    made = value()

    second = secrets.create(inputs(secrets), say)

    assert {**second.outputs, "holder": ""} == {**first.outputs, "holder": ""}
    assert value() == made


def test_a_resource_that_was_renamed_does_not_delete_what_its_successor_adopted(
    secrets: ManagedSecret, say: Any
) -> None:
    """The engine creates the new one first, and deletes the old one last."""
    old = secrets.create(inputs(secrets), say)
    new = secrets.create(inputs(secrets), say)

    secrets.delete(old.id, old.outputs, say)

    assert "DeletedDate" not in aws_client().describe_secret(SecretId=NAME)
    assert say.lines[-1] == f"info: secret {NAME} is held by another resource now: left to it"
    secrets.delete(new.id, new.outputs, say)
    assert "DeletedDate" in aws_client().describe_secret(SecretId=NAME)


def test_a_secret_of_another_stack_is_not_taken_over(secrets: ManagedSecret, say: Say) -> None:
    tags = [{"Key": "lantau:stack", "Value": "prod"}, {"Key": "lantau:managed-by", "Value": "pulumi"}]
    aws_client().create_secret(Name=NAME, SecretString='{"api-key": "theirs"}', Tags=tags)

    with pytest.raises(ProviderError, match=r"does not belong to stack dev .*lantau:stack=prod"):
        secrets.create(inputs(secrets), say)
    assert value() == {"api-key": "theirs"}


def test_a_secret_made_by_hand_is_taken_over_with_its_value_once_its_tags_say_so(
    secrets: ManagedSecret, say: Say
) -> None:
    aws_client().create_secret(Name=NAME, SecretString='{"api-key": "made by hand"}')
    with pytest.raises(ProviderError, match="tag-resource") as refused:
        secrets.create(inputs(secrets), say)
    assert "made by hand" not in str(refused.value)

    tags = [{"Key": "lantau:stack", "Value": "dev"}, {"Key": "lantau:managed-by", "Value": "pulumi"}]
    aws_client().tag_resource(SecretId=NAME, Tags=tags)
    state = secrets.create(inputs(secrets), say)

    assert value() == {"api-key": "made by hand"}
    secrets.update(state.id, state.outputs, inputs(secrets, state.inputs, epoch=2), say)
    assert value("AWSPREVIOUS") == {"api-key": "made by hand"}


def test_description_and_tags_change_without_touching_the_value(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets, tags={"team": "search", "old": "1"}), say)
    old = value()

    outputs = secrets.update(
        state.id, state.outputs, inputs(secrets, state.inputs, description="another", tags={"team": "ranking"}), say
    )

    described = aws_client().describe_secret(SecretId=NAME)
    tags = {tag["Key"]: tag["Value"] for tag in described["Tags"]}
    assert described["Description"] == "another"
    assert tags["team"] == "ranking"
    assert "old" not in tags
    assert (value(), outputs["versionId"]) == (old, state.outputs["versionId"])


def test_a_value_put_in_by_hand_in_an_emergency_is_not_undone(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    aws_client().put_secret_value(SecretId=NAME, SecretString='{"api-key": "put in by hand"}')

    seen = secrets.read(state.id, state.outputs, state.inputs, say)

    assert seen is not None
    assert seen.outputs["versionId"] != state.outputs["versionId"]
    assert not secrets.diff(seen.outputs, state.inputs).changes
    secrets.update(state.id, seen.outputs, inputs(secrets, seen.inputs, description="other"), say)
    assert value() == {"api-key": "put in by hand"}


def test_deleting_keeps_the_secret_recoverable_and_creating_again_restores_it(secrets: ManagedSecret, say: Any) -> None:
    state = secrets.create(inputs(secrets, recoveryDays=7), say)
    made = value()

    secrets.delete(state.id, state.outputs, say)

    deleted = aws_client().describe_secret(SecretId=NAME)
    assert 6 <= (deleted["DeletedDate"] - deleted["LastChangedDate"]).days <= 7
    again = secrets.create(inputs(secrets, recoveryDays=7), say)
    assert value() == made
    assert again.outputs["versionId"] == state.outputs["versionId"]
    assert any("has been restored with the value it held" in line for line in say.lines)


def test_an_older_epoch_does_not_restore_a_deleted_secret(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets, epoch=3), say)
    secrets.delete(state.id, state.outputs, say)

    with pytest.raises(ProviderError, match="set 3 to keep its value or 4 to rotate"):
        secrets.create(inputs(secrets, epoch=2), say)
    assert "DeletedDate" in aws_client().describe_secret(SecretId=NAME)


def test_deleting_twice_or_what_is_gone_is_success(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    secrets.delete(state.id, state.outputs, say)
    secrets.delete(state.id, state.outputs, say)
    aws_client().delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)

    secrets.delete(state.id, state.outputs, say)


def test_a_secret_that_was_handed_to_another_stack_is_not_deleted(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    aws_client().tag_resource(SecretId=NAME, Tags=[{"Key": "lantau:stack", "Value": "prod"}])

    with pytest.raises(ProviderError, match="does not belong to stack dev"):
        secrets.delete(state.id, state.outputs, say)
    assert "DeletedDate" not in aws_client().describe_secret(SecretId=NAME)


def test_a_refresh_finds_what_is_gone_or_about_to_go(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    assert secrets.read(state.id, state.outputs, state.inputs, say) == state

    aws_client().delete_secret(SecretId=NAME, RecoveryWindowInDays=7)
    assert secrets.read(state.id, state.outputs, state.inputs, say) is None
    aws_client().delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)
    assert secrets.read(state.id, state.outputs, state.inputs, say) is None


def test_a_refresh_finds_changed_description_and_tags_and_an_update_repairs_them(
    secrets: ManagedSecret, say: Say
) -> None:
    state = secrets.create(inputs(secrets, tags={"team": "search"}), say)
    aws_client().update_secret(SecretId=NAME, Description="somebody's")
    aws_client().untag_resource(SecretId=NAME, TagKeys=["team", "lantau:field:api-key"])

    seen = secrets.read(state.id, state.outputs, state.inputs, say)

    assert seen is not None
    assert set(secrets.diff(seen.outputs, state.inputs).changes) == {"description", "tags"}
    outputs = secrets.update(state.id, seen.outputs, state.inputs, say)
    assert not secrets.diff(outputs, state.inputs).changes
    assert outputs["systemTags"] == state.outputs["systemTags"]


def test_lost_system_tags_alone_are_a_difference(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    aws_client().untag_resource(SecretId=NAME, TagKeys=["lantau:epoch"])

    seen = secrets.read(state.id, state.outputs, state.inputs, say)

    assert seen is not None
    assert secrets.diff(seen.outputs, state.inputs).changes == {"systemTags": Change.UPDATE}


def test_tags_of_others_are_neither_shown_nor_removed(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    aws_client().tag_resource(SecretId=NAME, Tags=[{"Key": "cost-centre", "Value": "9"}])

    assert secrets.read(state.id, state.outputs, state.inputs, say) == state
    secrets.update(state.id, state.outputs, inputs(secrets, state.inputs, description="other"), say)
    assert {"Key": "cost-centre", "Value": "9"} in aws_client().describe_secret(SecretId=NAME)["Tags"]


@pytest.mark.parametrize("by_name", [True, False])
def test_an_import_by_name_or_arn_reads_back_what_was_declared(secrets: ManagedSecret, say: Say, by_name: bool) -> None:
    fields = {
        "api-key": {"kind": "random", "length": 64, "alphabet": "hex", "prefix": "lk_"},
        "user": {"kind": "fixed", "value": "app"},
    }
    declared = inputs(secrets, fields=fields, epoch=4, tags={"team": "search"})
    state = secrets.create(declared, say)

    seen = secrets.read(NAME if by_name else state.id, {}, {}, say)

    assert seen == state
    assert not secrets.diff(seen.outputs, declared).changes
    assert value()["api-key"] not in json.dumps(seen.outputs)


def test_an_import_of_what_is_not_ours_is_refused(secrets: ManagedSecret, say: Say) -> None:
    aws_client().create_secret(Name=NAME, SecretString="{}")
    aws_client().create_secret(Name="billing", SecretString="{}")

    with pytest.raises(ProviderError, match="tag-resource"):
        secrets.read(NAME, {}, {}, say)
    with pytest.raises(ProviderError, match="names begin with lantau/<stack>/"):
        secrets.read("billing", {}, {}, say)


def test_another_name_or_region_is_another_secret(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)

    assert secrets.diff(state.outputs, {**state.inputs, "name": f"{NAME}-2"}).changes == {"name": Change.REPLACE}
    elsewhere = {**state.outputs, "region": "ap-southeast-1"}
    assert secrets.diff(elsewhere, state.inputs).changes == {"region": Change.REPLACE}


def test_a_key_of_kms_changes_in_place(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    old = value()
    news = inputs(secrets, state.inputs, kmsKeyId="alias/platform")

    assert secrets.diff(state.outputs, news).changes == {"kmsKeyId": Change.UPDATE}
    secrets.update(state.id, state.outputs, news, say)

    assert aws_client().describe_secret(SecretId=NAME)["KmsKeyId"] == "alias/platform"
    assert value() == old


def test_a_preview_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_store(_: str | None) -> SecretStore:
        raise AssertionError("a preview must not open the store")

    from provider.config import ProviderConfig

    kind = ManagedSecret(ProviderConfig("ap-east-1", None, "dev"), no_store)
    news = inputs(kind)
    planned = kind.preview_create(news)
    state = {**planned, "arn": "arn:aws:secretsmanager:ap-east-1:1:secret:x", "versionId": "1", "previousVersionId": ""}

    assert isinstance(planned["versionId"], Unknown)
    assert kind.preview_update(state, {**news, "description": "other"})["versionId"] == "1"
    assert kind.preview_update(state, {**news, "epoch": 2})["versionId"] is UNKNOWN


def test_an_error_of_the_store_names_operation_secret_and_code_only(
    secrets: ManagedSecret, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.exceptions import ClientError

    class Refusing:
        def describe_secret(self, **_: str) -> None:
            response: Any = {"Error": {"Code": "ResourceNotFoundException", "Message": ""}}
            raise ClientError(response, "DescribeSecret")

        def create_secret(self, **parameters: str) -> None:
            response: Any = {"Error": {"Code": "AccessDeniedException", "Message": parameters["SecretString"]}}
            raise ClientError(response, "CreateSecret")

    monkeypatch.setattr(SecretStore, "_client", lambda *_: Refusing())

    with pytest.raises(StoreError) as refused:
        secrets.create(inputs(secrets), say)
    assert str(refused.value) == (
        f"AWS Secrets Manager, CreateSecret of {NAME}: AccessDeniedException: this identity may not do it; "
        f"allow secretsmanager:CreateSecret on {NAME}"
    )
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_two_resources_over_one_secret_are_refused(secrets: ManagedSecret) -> None:
    inputs(secrets)

    _, failures = secrets.check(URN.replace("qdrant", "other"), {}, inputs(secrets))

    assert [failure.reason for failure in failures] == [f"resource qdrant declares secret {NAME} as well"]

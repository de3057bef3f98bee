"""`ManagedSecret` against a mocked store: its life from creation to restoration, and every interruption on the way."""

import json
from typing import Any

import boto3
import pytest

from provider.errors import ProviderError
from provider.resource import Change, Say
from provider.store.client import SecretStore, StoreError
from provider.store.resource import ManagedSecret
from provider.values import UNKNOWN, Plain, Unknown

NAME = "lantau/dev/vector/qdrant"
URN = "urn:pulumi:dev::lantau::lantau:index:ManagedSecret::qdrant"


def aws_client() -> Any:
    return boto3.client("secretsmanager", region_name="ap-east-1")


def value(stage: str = "AWSCURRENT", name: str = NAME) -> dict[str, str]:
    found: dict[str, str] = json.loads(aws_client().get_secret_value(SecretId=name, VersionStage=stage)["SecretString"])
    return found


def inputs(kind: ManagedSecret, olds: Plain | None = None, **changes: Any) -> Plain:
    given = {
        "name": NAME,
        "description": "key of the vector store",
        "fields": {"api-key": {"kind": "random"}},
        **changes,
    }
    checked, failures = kind.check(URN, olds or {}, given)
    assert not failures, [(failure.property, failure.reason) for failure in failures]
    return checked


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


def test_a_new_epoch_makes_a_new_value_and_keeps_the_last_one_readable(secrets: ManagedSecret, say: Say) -> None:
    state = secrets.create(inputs(secrets), say)
    old = value()

    outputs = secrets.update(state.id, state.outputs, inputs(secrets, state.inputs, epoch=2), say)

    assert value("AWSPREVIOUS") == old
    assert value()["api-key"] != old["api-key"]
    assert outputs["previousVersionId"] == state.outputs["versionId"]
    assert outputs["versionId"] != state.outputs["versionId"]
    assert outputs["epoch"] == 2


def test_a_rotation_repeated_after_a_crash_rotates_once(secrets: ManagedSecret, say: Say) -> None:
    """Twice would push the value that is in use out of reach."""
    state = secrets.create(inputs(secrets), say)
    old = value()
    news = inputs(secrets, state.inputs, epoch=2)
    secrets.update(state.id, state.outputs, news, say)
    new = value()

    secrets.update(state.id, state.outputs, news, say)

    assert (value(), value("AWSPREVIOUS")) == (new, old)


def test_a_rotation_interrupted_before_its_tags_rotates_once(
    secrets: ManagedSecret, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = secrets.create(inputs(secrets), say)
    old = value()
    news = inputs(secrets, state.inputs, epoch=2)

    def broken(*_: object) -> None:
        raise StoreError("TagResource", NAME, "InternalServiceError")

    with monkeypatch.context() as patch:
        patch.setattr(SecretStore, "tag", broken)
        with pytest.raises(StoreError):
            secrets.update(state.id, state.outputs, news, say)
    new = value()
    outputs = secrets.update(state.id, state.outputs, news, say)

    assert (value(), value("AWSPREVIOUS")) == (new, old)
    assert outputs["systemTags"]["lantau:epoch"] == "2"


def test_a_field_that_must_not_rotate_keeps_its_value(secrets: ManagedSecret, say: Say) -> None:
    fields = {"api-key": {"kind": "random"}, "salt": {"kind": "random", "rotate": False}}
    state = secrets.create(inputs(secrets, fields=fields), say)
    old = value()

    secrets.update(state.id, state.outputs, inputs(secrets, state.inputs, fields=fields, epoch=2), say)

    assert value()["salt"] == old["salt"]
    assert value()["api-key"] != old["api-key"]


def test_an_added_field_is_made_and_the_others_stay_also_in_the_overlap(secrets: ManagedSecret, say: Say) -> None:
    """The label of the previous version must stay with the epoch before, or its readers would be locked out."""
    state = secrets.create(inputs(secrets), say)
    first = value()
    rotated = secrets.update(state.id, state.outputs, inputs(secrets, state.inputs, epoch=2), say)
    second = value()
    fields = {"api-key": {"kind": "random"}, "user": {"kind": "fixed", "value": "app"}, "extra": {"kind": "random"}}

    outputs = secrets.update(state.id, rotated, inputs(secrets, rotated, fields=fields, epoch=2), say)

    assert value()["api-key"] == second["api-key"]
    assert value()["user"] == "app"
    assert len(value()["extra"]) == 48
    assert value("AWSPREVIOUS") == first
    assert outputs["previousVersionId"] == state.outputs["versionId"]


def test_the_label_of_the_overlap_comes_back_after_an_interruption(
    secrets: ManagedSecret, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = secrets.create(inputs(secrets), say)
    first = value()
    rotated = secrets.update(state.id, state.outputs, inputs(secrets, state.inputs, epoch=2), say)
    news = inputs(secrets, rotated, fields={"api-key": {"kind": "random"}, "extra": {"kind": "random"}}, epoch=2)

    def broken(*_: object, **__: object) -> None:
        raise StoreError("UpdateSecretVersionStage", NAME, "InternalServiceError")

    with monkeypatch.context() as patch:
        patch.setattr(SecretStore, "move_previous", broken)
        with pytest.raises(StoreError):
            secrets.update(state.id, rotated, news, say)
    secrets.update(state.id, rotated, news, say)

    assert value("AWSPREVIOUS") == first


def test_a_removed_field_goes_and_comes_back_new(secrets: ManagedSecret, say: Say) -> None:
    both = {"api-key": {"kind": "random"}, "extra": {"kind": "random"}}
    state = secrets.create(inputs(secrets, fields=both), say)
    old = value()
    outputs = secrets.update(state.id, state.outputs, inputs(secrets, state.inputs), say)
    assert set(value()) == {"api-key"}

    secrets.update(state.id, outputs, inputs(secrets, outputs, fields=both), say)

    assert value()["api-key"] == old["api-key"]
    assert value()["extra"] != old["extra"]


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

"""New epochs and new fields: what readers hold stays readable, and an interrupted rotation rotates once."""

import pytest

from provider.resource import Say
from provider.store.client import SecretStore, StoreError
from provider.store.resource import ManagedSecret
from tests.unit.provider.secret_case import NAME, inputs, value


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

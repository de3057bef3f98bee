"""Keys of the managed store: what Pulumi is told about them, and what it never learns."""

from __future__ import annotations

import pytest

from components.provider_sdk import FixedField, RandomField
from components.secrets import ManagedKey, ManagedKeyArgs, RemoteField
from lantau.stack import SecretStore
from tests.unit.components.recording import Recorded, record

STORE = SecretStore(region="ap-east-1", account="123456789012", epoch=3, recovery_days=14)
MANAGED_SECRET = "lantau:index:ManagedSecret"


def args(*, protect: bool = True) -> ManagedKeyArgs:
    return ManagedKeyArgs(
        stack_name="hk-prod",
        store=STORE,
        protect=protect,
        tier="vector",
        key="api-key",
        description="API key of the vector store",
        fields={"api_key": 48, "read_only": RandomField(length=32, prefix="ro-"), "user": FixedField("reader")},
    )


def recorded(*, protect: bool = True, preview: bool = False) -> Recorded:
    return record(lambda: ManagedKey("vector-api-key", args(protect=protect)), preview=preview)


def test_a_key_is_declared_by_shape_and_never_by_value() -> None:
    secret = recorded().one(MANAGED_SECRET, "vector-api-key-secret")
    shape = {"kind": "random", "alphabet": "alphanumeric", "prefix": "", "rotate": True}
    assert secret.inputs["fields"] == {
        "api_key": {**shape, "length": 48},
        "read_only": {**shape, "length": 32, "prefix": "ro-"},
        "user": {"kind": "fixed", "value": "reader"},
    }


def test_name_epoch_and_recovery_come_from_the_stack() -> None:
    inputs = recorded(preview=True).one(MANAGED_SECRET).inputs
    assert inputs["name"] == "lantau/hk-prod/vector/api-key"
    assert (inputs["epoch"], inputs["recoveryDays"]) == (3, 14)
    assert inputs["tags"] == {"lantau.internal/tier": "vector"}


def test_a_key_is_protected_where_data_is() -> None:
    assert recorded(protect=True).one(MANAGED_SECRET).protect
    assert not recorded(protect=False).one(MANAGED_SECRET).protect


def test_the_name_in_the_store_is_known_before_the_key_exists() -> None:
    made = recorded(preview=True)
    assert made.result.remote_name == "lantau/hk-prod/vector/api-key"
    assert made.outputs_registered[made.one("lantau:secrets:ManagedKey").urn] == {
        "remote_name": "lantau/hk-prod/vector/api-key"
    }


def test_a_field_is_asked_for_by_name_and_a_wrong_one_is_refused() -> None:
    key = recorded().result
    assert key.field("api_key") == RemoteField("lantau/hk-prod/vector/api-key", "api_key")
    with pytest.raises(ValueError, match='has no field "apikey"; it has api_key, read_only, user'):
        key.field("apikey")

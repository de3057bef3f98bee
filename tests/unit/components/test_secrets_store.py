"""The way from a namespace to the store: a token, a role, no key."""

from __future__ import annotations

from components.secrets import NamespaceStore, NamespaceStoreArgs
from lantau.stack import SecretStore
from tests.unit.components.recording import Recorded, record

STORE = SecretStore(region="ap-east-1", account="123456789012")
SECRET_STORE = "kubernetes:external-secrets.io/v1:SecretStore"


def recorded() -> Recorded:
    args = NamespaceStoreArgs(stack_name="hk-prod", store=STORE, tier="vector", namespace="lantau-vector")
    return record(lambda: NamespaceStore("vector-store", args), preview=True)


def test_a_namespace_reads_as_a_role_of_its_own_tier() -> None:
    account = recorded().kubernetes("ServiceAccount", "secrets-reader", "lantau-vector")
    assert account.inputs["metadata"]["annotations"] == {
        "eks.amazonaws.com/audience": "sts.amazonaws.com",
        "eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/lantau-hk-prod-vector",
    }
    assert account.inputs["automountServiceAccountToken"] is False


def test_the_store_is_reached_by_token_only() -> None:
    store = recorded().one(SECRET_STORE)
    assert (store.kubernetes_name, store.namespace) == ("managed", "lantau-vector")
    assert store.inputs["spec"] == {
        "provider": {
            "aws": {
                "service": "SecretsManager",
                "region": "ap-east-1",
                "auth": {"jwt": {"serviceAccountRef": {"name": "secrets-reader"}}},
            }
        }
    }


def test_a_store_that_does_not_become_ready_fails_the_update_within_minutes() -> None:
    made = recorded()
    store = made.one(SECRET_STORE)
    assert store.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Ready"}
    assert store.timeouts.create == "5m"
    assert made.kubernetes("ServiceAccount", "secrets-reader").urn in store.depends_on


def test_the_role_is_registered() -> None:
    made = recorded()
    role = "arn:aws:iam::123456789012:role/lantau-hk-prod-vector"
    assert made.outputs_registered[made.one("lantau:secrets:NamespaceStore").urn] == {"role": role}
    assert made.result.role == role

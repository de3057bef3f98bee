"""DAT-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge

PRODUCTION = {"productionStacks": ["*"]}


def storage(kind: str, api: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "data"}, **fields}


@pytest.mark.parametrize(
    "manifest",
    [
        storage("PersistentVolume", "v1", spec={"persistentVolumeReclaimPolicy": "Delete"}),
        storage("StorageClass", "storage.k8s.io/v1"),
        storage("StorageClass", "storage.k8s.io/v1", reclaimPolicy="Delete"),
        storage("StatefulSet", "apps/v1", spec={"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}),
    ],
)
def test_data_that_goes_with_its_claim_is_refused(manifest: dict[str, Any]) -> None:
    assert fires("DAT-02", manifest, config=PRODUCTION)
    assert clean("DAT-02", manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        storage("PersistentVolume", "v1", spec={"persistentVolumeReclaimPolicy": "Retain"}),
        storage("StorageClass", "storage.k8s.io/v1", reclaimPolicy="Retain"),
        storage("StatefulSet", "apps/v1", spec={}),
    ],
)
def test_retained_data_passes(manifest: dict[str, Any]) -> None:
    assert clean("DAT-02", manifest, config=PRODUCTION)


def test_an_unknown_policy_is_left_to_the_update() -> None:
    manifest = storage("StorageClass", "storage.k8s.io/v1", reclaimPolicy=UNKNOWN)
    assert judge("DAT-02", manifest, config=PRODUCTION).unjudged


@pytest.mark.parametrize("field", ["whenDeleted", "whenScaled"])
def test_a_set_keeps_its_claims_in_both_events(field: str) -> None:
    kept = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    policy = {"persistentVolumeClaimRetentionPolicy": {**kept, field: "Delete"}}
    outcome = judge("DAT-02", storage("StatefulSet", "apps/v1", spec=policy), config=PRODUCTION)
    assert outcome.paths == [f"spec.persistentVolumeClaimRetentionPolicy.{field}"]
    policy = {"persistentVolumeClaimRetentionPolicy": kept}
    assert clean("DAT-02", storage("StatefulSet", "apps/v1", spec=policy), config=PRODUCTION)

"""DAT-01 to DAT-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import deployment

PRODUCTION = {"productionStacks": ["*"]}
CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "team-a"}}


def test_an_unprotected_claim_is_refused_in_production() -> None:
    assert fires("DAT-01", CLAIM, config=PRODUCTION)
    assert clean("DAT-01", CLAIM, config=PRODUCTION, protect=True)
    assert clean("DAT-01", CLAIM)


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


def test_data_without_a_backup_is_told() -> None:
    store = deployment(kind="StatefulSet")
    store["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}}]
    backup = storage("CronJob", "batch/v1") | {"metadata": {"name": "store-backup", "namespace": "team-a"}}
    assert fires("DAT-03", store, config=PRODUCTION)
    assert fires("DAT-03", store, {**backup, "metadata": {"name": "store-backup", "namespace": "b"}}, config=PRODUCTION)
    assert clean("DAT-03", store, backup, config=PRODUCTION)
    assert clean("DAT-03", store, storage("Schedule", "velero.io/v1", spec={"template": {}}), config=PRODUCTION)
    assert clean("DAT-03", deployment(kind="StatefulSet"), config=PRODUCTION)

"""DAT-03."""

from typing import Any

import pytest
from pulumi_policy import EnforcementLevel

from tests.policy.harness import UNKNOWN, clean, fires, judge, rule
from tests.policy.manifests import deployment

PRODUCTION = {"productionStacks": ["*"]}


def storage(kind: str, api: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "data"}, **fields}


def test_data_without_a_backup_is_told() -> None:
    store = deployment(kind="StatefulSet")
    store["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}}]
    backup = storage("CronJob", "batch/v1") | {"metadata": {"name": "store-backup", "namespace": "team-a"}}
    assert fires("DAT-03", store, config=PRODUCTION)
    assert fires("DAT-03", store, {**backup, "metadata": {"name": "store-backup", "namespace": "b"}}, config=PRODUCTION)
    assert clean("DAT-03", store, backup, config=PRODUCTION)
    assert clean("DAT-03", store, storage("Schedule", "velero.io/v1", spec={"template": {}}), config=PRODUCTION)
    assert clean("DAT-03", deployment(kind="StatefulSet"), config=PRODUCTION)


def store(**spec: Any) -> dict[str, Any]:
    manifest = deployment(kind="StatefulSet")
    manifest["spec"] |= {"volumeClaimTemplates": [{"metadata": {"name": "data"}}], **spec}
    return manifest


def velero(paused: bool = False, **template: Any) -> dict[str, Any]:
    spec = {"schedule": "0 3 * * *", "paused": paused, "template": template}
    return {**storage("Schedule", "velero.io/v1", spec=spec), "metadata": {"name": "daily", "namespace": "velero"}}


def local(kind: str, api: str, name: str = "data", namespace: str = "team-a", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


@pytest.mark.parametrize(
    "backup",
    [
        velero(),
        velero(includedNamespaces=["team-a", "team-b"]),
        velero(includedNamespaces=["*"]),
        velero(excludedNamespaces=["kube-system"]),
        velero(includedResources=["persistentvolumeclaims", "persistentvolumes"]),
        velero(snapshotVolumes=False, defaultVolumesToFsBackup=True),
        velero(includedNamespaces=[UNKNOWN]),
        local("SnapshotSchedule", "snapscheduler.backube/v1"),
        local("ScheduledBackup", "postgresql.cnpg.io/v1"),
        local("Schedule", "k8up.io/v1"),
        local("RecurringJob", "longhorn.io/v1beta2", namespace="longhorn-system", task="backup"),
        local("CronJob", "batch/v1", "qdrant-snapshots"),
    ],
)
def test_a_backup_that_takes_the_volumes_passes(backup: dict[str, Any]) -> None:
    assert clean("DAT-03", store(), backup, config=PRODUCTION)


@pytest.mark.parametrize(
    "backup",
    [
        velero(paused=True),
        velero(includedNamespaces=["team-b"]),
        velero(excludedNamespaces=["team-a"]),
        velero(includedResources=["configmaps"]),
        velero(excludedResources=["persistentvolumeclaims"]),
        velero(snapshotVolumes=False),
        local("SnapshotSchedule", "snapscheduler.backube/v1", namespace="team-b"),
        local("SnapshotSchedule", "snapscheduler.backube/v1", disabled=True),
        local("ScheduledBackup", "postgresql.cnpg.io/v1", suspend=True),
        local("Schedule", "k8up.io/v1", namespace="team-b"),
        local("RecurringJob", "longhorn.io/v1beta2", task="filesystem-trim"),
        local("CronJob", "batch/v1", "store-backup", suspend=True),
        local("CronJob", "batch/v1", "cleanup"),
        local("VolumeSnapshot", "snapshot.storage.k8s.io/v1"),
    ],
)
def test_what_backs_up_something_else_or_nothing_does_not_count(backup: dict[str, Any]) -> None:
    assert fires("DAT-03", store(), backup, config=PRODUCTION)


def test_only_production_and_sets_with_volumes_are_asked() -> None:
    assert clean("DAT-03", store())
    assert clean("DAT-03", store(volumeClaimTemplates=[]), config=PRODUCTION)
    assert clean("DAT-03", {**store(), "kind": "StatefulSetPatch"}, config=PRODUCTION)
    assert judge("DAT-03", store(volumeClaimTemplates=UNKNOWN), config=PRODUCTION).unjudged


def test_it_holds_the_update_back() -> None:
    assert rule("DAT-03").level is EnforcementLevel.MANDATORY

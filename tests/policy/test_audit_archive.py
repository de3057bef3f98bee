"""AUD-12."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import container, cron_job, pod_spec

BUCKET = "aws:s3/bucket:Bucket"
LOCK = "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration"


def job(*command: str) -> dict[str, Any]:
    return cron_job(pod_spec(containers=[container(command=list(command))]))


def volume(kind: str, api: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **fields}


def shipper(text: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "collector"}, "data": {"config.yaml": text}}


OTEL = """receivers:
  filelog: {include: [/var/log/kubernetes/audit.log]}
exporters:
  otlp:
    endpoint: %s
    tls: {insecure: %s}
"""


@pytest.mark.parametrize(
    "manifest",
    [
        job("sh", "-c", "find /var/log/audit -mtime +7 -delete"),
        job("aws", "s3", "rm", "s3://hk-audit-archive/2026", "--recursive"),
        job("sh", "-c", "rm -rf /archive/audit/*"),
        volume("PersistentVolume", "v1", "audit-archive", spec={"persistentVolumeReclaimPolicy": "Delete"}),
        volume("StorageClass", "storage.k8s.io/v1", "audit-archive", reclaimPolicy="Delete"),
        volume("StorageClass", "storage.k8s.io/v1", "audit-archive"),
        shipper(OTEL % ("logs.example.com:4317", "true")),
        shipper("[INPUT]\n  Path /var/log/audit.log\n[OUTPUT]\n  Name es\n  tls Off\n"),
    ],
)
def test_an_archive_that_can_be_lost_is_refused(manifest: dict[str, Any]) -> None:
    assert fires("AUD-12", manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        job("sh", "-c", "find /tmp/cache -mtime +7 -delete"),
        job("aws", "s3", "cp", "/var/log/audit.log", "s3://hk-audit-archive/"),
        volume("PersistentVolume", "v1", "audit-archive", spec={"persistentVolumeReclaimPolicy": "Retain"}),
        volume("StorageClass", "storage.k8s.io/v1", "scratch", reclaimPolicy="Delete"),
        shipper(OTEL % ("logs.example.com:4317", "false")),
    ],
)
def test_a_kept_archive_passes(manifest: dict[str, Any]) -> None:
    assert clean("AUD-12", manifest)


def test_a_bucket_is_judged_by_its_lock_and_its_days() -> None:
    assert fires("AUD-12", {"bucket": "hk-audit", "forceDestroy": True}, token=BUCKET)
    assert fires("AUD-12", {"bucket": "hk-audit", "objectLockEnabled": False}, token=BUCKET)
    retention = {"bucket": "hk-audit", "rule": {"defaultRetention": {"mode": "GOVERNANCE", "days": 400}}}
    assert fires("AUD-12", retention, token=LOCK)
    retention["rule"] = {"defaultRetention": {"mode": "COMPLIANCE", "days": 30}}
    assert fires("AUD-12", retention, token=LOCK)
    retention["rule"] = {"defaultRetention": {"mode": "COMPLIANCE", "days": 365}}
    assert clean("AUD-12", retention, token=LOCK)
    assert fires("AUD-12", retention, token=LOCK, config={"minArchiveDays": 400})
    assert clean("AUD-12", {"bucket": "models", "forceDestroy": True}, token=BUCKET)


def test_an_unknown_policy_is_left_to_the_update() -> None:
    assert judge("AUD-12", volume("StorageClass", "storage.k8s.io/v1", "audit", reclaimPolicy=UNKNOWN)).unjudged


def test_a_bucket_of_crossplane_is_judged_alike() -> None:
    bucket = volume("Bucket", "s3.aws.upbound.io/v1beta1", "hk-audit", spec={"forProvider": {"forceDestroy": True}})
    assert fires("AUD-12", bucket)
    bucket["metadata"]["name"] = "models"
    assert clean("AUD-12", bucket)


def test_only_what_ships_the_trail_must_use_tls() -> None:
    text = OTEL % ("logs.example.com:4317", "true")
    assert clean("AUD-12", shipper(text.replace("audit", "app")))
    custom = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "data": {"a": text}}
    assert clean("AUD-12", custom)

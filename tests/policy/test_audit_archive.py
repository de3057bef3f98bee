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


def audit_job(*command: str, name: str = "audit-archive") -> dict[str, Any]:
    mounted = container(command=list(command), volumeMounts=[{"name": "v", "mountPath": "/data"}])
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": name}}
    return cron_job(pod_spec(containers=[mounted], volumes=[volume]))


@pytest.mark.parametrize(
    "script",
    [
        "find /archive/audit -mtime +7 | xargs rm -f",
        "find /audit-logs -mtime +7 -exec rm {} ';'",
        "cd /var/log/audit\nrm -rf ./*",
        "truncate -s 0 /var/log/kubernetes/audit.log",
        ": > /var/log/kubernetes/audit.log",
        "date; > /var/log/kubernetes/audit.log",
        "aliyun oss rm oss://hk-audit/ -r",
        "coscli rm cos://hk-audit/ -r",
        "gsutil -m rm gs://hk-audit/**",
        "s3cmd del s3://hk-audit/2026",
        "aws s3api delete-objects --bucket hk-audit",
        "rclone purge remote:hk-audit",
        "az storage blob delete-batch --source hk-audit",
        "python -c 'import shutil; shutil.rmtree(\"/archive/audit\")'",
    ],
)
def test_every_way_to_prune_the_archive_is_refused(script: str) -> None:
    assert fires("AUD-12", job("sh", "-c", script))
    assert fires("AUD-12", job(*script.split()))


def test_what_is_removed_where_the_archive_is_mounted_counts() -> None:
    assert fires("AUD-12", audit_job("sh", "-c", "find /data -mtime +7 -delete"))
    assert clean("AUD-12", audit_job("sh", "-c", "find /cache -mtime +7 -delete"))
    assert clean("AUD-12", audit_job("sh", "-c", "find /data -mtime +7 -delete", name="models"))


@pytest.mark.parametrize(
    "script",
    [
        "gzip -k /var/log/audit.log && rm -f /tmp/audit-upload.lock",
        "npm audit --production; rm -rf node_modules/.cache",
        "/bin/auditor scan && rm -rf /reports/old",
        "cat /var/log/kubernetes/audit.log > /archive/today.log",
    ],
)
def test_other_housekeeping_passes(script: str) -> None:
    assert clean("AUD-12", job("sh", "-c", script))


@pytest.mark.parametrize(
    "text",
    [
        "sinks:\n  out: {uri: 'https://s.example.com', inputs: [audit], tls: {verify_certificate: false}}\n",
        "<match audit>\n  @type elasticsearch\n  scheme http\n</match>\n",
        "<match audit>\n  scheme https\n  ssl_verify false\n</match>\n",
        "output { elasticsearch { hosts => 'https://e' index => 'audit' ssl_certificate_verification => false } }",
        "clients:\n- url: http://loki.example.com/push\nscrape_configs: [{job_name: audit}]\n",
    ],
)
def test_every_shipper_without_verified_tls_is_refused(text: str) -> None:
    assert fires("AUD-12", shipper(text))
    assert clean("AUD-12", shipper(text.replace("audit", "access")))


def output(kind: str, **spec: Any) -> dict[str, Any]:
    return volume(kind, "logging.banzaicloud.io/v1beta1", "audit-out", spec=spec)


def test_outputs_of_logging_operators_are_judged() -> None:
    assert fires("AUD-12", output("ClusterOutput", loki={"url": "http://loki.example.com:3100"}))
    assert fires("AUD-12", output("Output", http={"endpoint": "https://s.example.com", "insecure_skip_verify": True}))
    assert fires("AUD-12", output("OpenTelemetryCollector", config=OTEL % ("logs.example.com:4317", "true")))
    assert clean("AUD-12", output("ClusterOutput", loki={"url": "https://loki.example.com:3100"}))
    other = output("ClusterOutput", loki={"url": "http://loki.example.com:3100"})
    assert clean("AUD-12", {**other, "metadata": {"name": "access"}})
    forwarded = {"inputRefs": ["audit"], "url": "http://loki.example.com"}
    assert fires("AUD-12", {**output("ClusterLogForwarder", **forwarded), "metadata": {"name": "instance"}})


@pytest.mark.parametrize(
    "text", ["retention_period: 168h", "retention: 30d", "retention_days: 7", "  retention_time = 4w"]
)
def test_an_archive_that_forgets_early_is_refused(text: str) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "loki-audit"}, "data": {"loki.yaml": text}}
    assert fires("AUD-12", config)
    assert clean("AUD-12", {**config, "metadata": {"name": "loki"}})
    assert clean("AUD-12", config, config={"minArchiveDays": 7})


def test_an_archive_that_keeps_a_year_passes() -> None:
    for text in ("retention_period: 8760h", "retention: 2y", "retention_period: 0s"):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "loki-audit"}, "data": {"l.yaml": text}}
        assert clean("AUD-12", config)


def crossplane(kind: str, **spec: Any) -> dict[str, Any]:
    return volume(kind, "s3.aws.upbound.io/v1beta1", "audit-archive", spec={"forProvider": spec})


def test_locks_and_lifecycles_of_a_managed_bucket_are_judged() -> None:
    for days, mode, verdict in ((30, "COMPLIANCE", fires), (400, "GOVERNANCE", fires), (400, "COMPLIANCE", clean)):
        retention = [{"defaultRetention": [{"mode": mode, "days": days}]}]
        assert verdict("AUD-12", crossplane("BucketObjectLockConfiguration", rule=retention))
    for days, verdict in ((90, fires), (730, clean)):
        lifecycle = [{"transition": [{"days": 30}], "expiration": [{"days": days}]}]
        assert verdict("AUD-12", crossplane("BucketLifecycleConfiguration", rule=lifecycle))


def test_other_clouds_write_it_in_seconds_or_as_an_age() -> None:
    token = "gcp:storage/bucket:Bucket"
    short = {"bucket": "hk-audit", "retentionPolicy": {"retentionPeriod": 86_400.0 * 30}}
    assert fires("AUD-12", short, token=token)
    assert clean("AUD-12", {"bucket": "hk-audit", "retentionPolicy": {"retentionPeriod": 86_400.0 * 400}}, token=token)
    assert fires("AUD-12", {"bucket": "hk-audit", "lifecycleRules": [{"condition": {"age": 30}}]}, token=token)


def test_a_log_group_keeps_the_trail() -> None:
    token = "aws:cloudwatch/logGroup:LogGroup"
    assert fires("AUD-12", {"name": "/aws/eks/prod/cluster", "retentionInDays": 7}, token=token)
    assert clean("AUD-12", {"name": "/aws/eks/prod/cluster", "retentionInDays": 90}, token=token)
    assert fires("AUD-12", {"name": "hk-audit", "retentionInDays": 90}, token=token)
    assert clean("AUD-12", {"name": "hk-audit"}, token=token)
    assert clean("AUD-12", {"name": "hk-audit", "retentionInDays": 0}, token=token)
    assert clean("AUD-12", {"name": "app", "retentionInDays": 7}, token=token)
    assert judge("AUD-12", {"name": "hk-audit", "retentionInDays": UNKNOWN}, token=token).unjudged

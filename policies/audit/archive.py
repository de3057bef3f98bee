"""AUD-12: the archive of the audit trail is kept, cannot be altered, and is filled over TLS."""

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.pruning import is_audit, pruning
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, join, leaves, number, word_set
from policies.settings import Settings

_SHIPPERS: Final = word_set(
    "Output ClusterOutput ClusterLogForwarder VectorPipeline ClusterVectorPipeline OpenTelemetryCollector LokiStack"
)
_PLAIN: Final = re.compile(
    r"(?i)insecure(?:_?skip_?verify)?\"?\s{0,3}[:=]\s{0,3}\"?true|tls\.verify\s{1,20}off|(?:^|\s)tls\s{1,20}off"
    r"|(?:verify_certificate|verify_hostname|ssl_verify|tls_verify)\"?(?:\s{0,3}[:=])?\s{0,20}\"?(?:false|off|none)\b"
    r"|(?:^|\s)scheme\s{1,20}http\s|ssl_certificate_verification\"?\s{0,3}(?:=>|:)\s{0,3}false"
    r"|(?:endpoint|url|host|hosts|address|uri)\"?\s{0,3}(?:[:=]|=>)\s{0,3}[\[\"' ]{0,4}http://(?!localhost|127\.)"
)
_RETENTION: Final = re.compile(
    r"(?im)^[\s-]{0,40}\"?(?:retention(?:_?period|_?time|_?days)?)\"?\s{0,3}[:=]\s{0,3}[\"']?(\d{1,9})\s?([hdwmy]?)"
)
_DAYS: Final = {"h": 1 / 24, "d": 1.0, "": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}
_SHIPS: Final = re.compile(r"(?i)exporters:|\[OUTPUT\]|<match|sinks[.:\]]|\boutput\b|\bclients:")
_BUCKET_KINDS: Final = frozenset({"Bucket", "BucketObjectLockConfiguration", "BucketLifecycleConfiguration"})
_UNVERIFIED: Final = frozenset({"insecure", "insecureskipverify"})
_SECONDS: Final = 86_400
_BUCKETS: Final = re.compile(
    r"(?i):bucket(?:v2)?$|:bucketobjectlockconfiguration(?:v2)?$|:bucketlifecycleconfiguration(?:v2)?$"
)


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find archives that expire, jobs that prune them, and shippers without TLS."""
    if _BUCKETS.search(resource.token) and is_audit(resource.name, resource.body.get("bucket")):
        yield from _bucket(resource.body, "", None, settings)
    if resource.token.startswith("aws:cloudwatch/logGroup:"):
        yield from _log_group(resource, settings)
    for obj in resource.objects:
        if obj.kind in _BUCKET_KINDS and obj.group and is_audit(obj.name):
            yield from _bucket(
                child(obj.body, "spec", "forProvider"), join(obj.path, "spec.forProvider"), obj, settings
            )
        elif obj.kind == "PersistentVolume" and is_audit(obj.name, child(obj.body, "spec", "claimRef", "name")):
            yield from _reclaim(obj, "spec.persistentVolumeReclaimPolicy", ("spec", "persistentVolumeReclaimPolicy"))
        elif obj.kind == "StorageClass" and is_audit(obj.name):
            yield from _reclaim(obj, "reclaimPolicy", ("reclaimPolicy",))
        elif obj.kind == "ConfigMap":
            yield from _shipper(obj, settings)
        elif obj.kind in _SHIPPERS and obj.group:
            yield from _shipping_object(obj)
    for pod in resource.pods:
        for container in pod.containers():
            for path in pruning(pod, container):
                yield Finding(path, "this removes parts of the audit trail", pod.obj)


def _reclaim(obj: Obj, path: str, keys: tuple[str, ...]) -> Iterator[Verdict]:
    value = child(obj.body, *keys)
    if value is UNKNOWN:
        yield Unjudged(f"{obj}: {path}")
    elif value != "Retain" and not (value is None and (obj.patch or obj.kind == "PersistentVolume")):
        yield Finding(join(obj.path, path), "the archive is deleted together with its claim", obj)


def _bucket(body: Plain, path: str, obj: Obj | None, settings: Settings) -> Iterator[Verdict]:
    """Object lock, its mode and days, and expiry, in the spelling of the AWS providers."""
    if child(body, "forceDestroy") is True:
        yield Finding(join(path, "forceDestroy"), "the archive can be destroyed with all it holds", obj)
    if child(body, "objectLockEnabled") is False:
        yield Finding(join(path, "objectLockEnabled"), "what is in the archive can be altered", obj)
    for where, key, value in leaves(body, path):
        if key == "mode" and isinstance(value, str) and value.upper() == "GOVERNANCE":
            yield Finding(where, "governance mode can be lifted by whoever has the right", obj)
        elif _short(key, where, value, settings.min_archive_days):
            yield Finding(where, f"the archive must keep at least {settings.min_archive_days} days", obj)


def _short(key: str | None, where: str, value: Plain, least: int) -> bool:
    if key == "retentionPeriod":
        return _too_few(value, least * _SECONDS)
    return key in ("days", "age") and "transition" not in where.lower() and _too_few(value, least)


def _too_few(value: Plain, least: int) -> bool:
    days = number(value)
    return days is not None and days < least


def _log_group(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Log groups that hold the trail; those of EKS are the logs at hand."""
    name, days = resource.body.get("name"), resource.body.get("retentionInDays")
    at_hand = isinstance(name, str) and name.startswith("/aws/eks/")
    if not at_hand and not is_audit(resource.name, name):
        return
    least = settings.min_audit_days if at_hand else settings.min_archive_days
    if days is UNKNOWN:
        yield Unjudged("retentionInDays")
    elif days not in (None, 0) and _too_few(days, least):
        yield Finding("retentionInDays", f"the trail must be kept for at least {least} days")


def _shipper(obj: Obj, settings: Settings) -> Iterator[Verdict]:
    data = obj.body.get("data")
    for key, text in data.items() if isinstance(data, dict) else ():
        about = isinstance(text, str) and ("audit" in text.lower() or is_audit(obj.name, key))
        path = join(join(obj.path, "data"), key)
        if about and _SHIPS.search(text) and _PLAIN.search(text):
            yield Finding(path, "the audit trail is shipped without verified TLS", obj)
        if isinstance(text, str) and is_audit(obj.name, key):
            for match in _RETENTION.finditer(text):
                if 0 < float(match[1]) * _DAYS[match[2].lower()] < settings.min_archive_days:
                    text = f"the archive must keep at least {settings.min_archive_days} days"
                    yield Finding(path, text, obj)
                    break


def _shipping_object(obj: Obj) -> Iterator[Verdict]:
    """Outputs of logging operators that are about audit logs."""
    found = list(leaves(obj.body, obj.path))
    if not is_audit(obj.name) and not any(isinstance(leaf, str) and "audit" in leaf.lower() for _, _, leaf in found):
        return
    for path, key, leaf in found:
        plain = isinstance(leaf, str) and (
            leaf.lower().startswith("http://") or ("\n" in leaf and _PLAIN.search(leaf) is not None)
        )
        unverified = isinstance(key, str) and key.lower().replace("_", "") in _UNVERIFIED and leaf is True
        if plain or unverified:
            yield Finding(path, "the audit trail is shipped without verified TLS", obj)


RULE: Final = Rule(
    control="AUD-12",
    name="audit-archive",
    title="The audit archive is kept, cannot be altered, and is filled over TLS",
    why="The log on the control plane is gone within days; the archive is the trail that is left.",
    fix="Keep it with Retain or object lock in compliance mode for minArchiveDays, prune nothing, ship it over TLS.",
    severity=Severity.MEDIUM,
    nsa="Audit logging",
    uses=("min_archive_days",),
    check=check,
)

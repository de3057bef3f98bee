"""AUD-12: the archive of the audit trail is kept, cannot be altered, and is filled over TLS."""

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.detect.names import words
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, items, join, leaves, number
from policies.settings import Settings

_PRUNES: Final = re.compile(
    r"(?i)(?:\brm\s+-\w*[rf]|\bunlink\b|-delete\b|\bs3\s+rm\b|\bs3\s+rb\b|delete-objects?\b|\bmc\s+rm\b|\btruncate\b|\bshred\b"
    r"|\bossutil\s+rm\b|\bcoscli\s+rm\b|\bgsutil\s+rm\b|\brclone\s+delete)"
)
_PLAIN: Final = re.compile(
    r"(?i)insecure(?:_skip_verify)?\"?\s{0,3}[:=]\s{0,3}\"?true|tls\.verify\s{1,20}off|(?:^|\s)tls\s{1,20}off"
    r"|(?:endpoint|url|host|hosts|address|uri)\"?\s{0,3}[:=]\s{0,3}[\[\"' ]{0,4}http://(?!localhost|127\.)"
)
_SHIPS: Final = re.compile(r"(?i)exporters:|\[OUTPUT\]|<match|sinks[.:\]]|\boutput\b|\bclients:")
_BUCKETS: Final = re.compile(
    r"(?i):bucket(?:v2)?$|:bucketobjectlockconfiguration(?:v2)?$|:bucketlifecycleconfiguration(?:v2)?$"
)


def _is_audit(*names: Plain) -> bool:
    return any("audit" in words(name) for name in names if isinstance(name, str))


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find archives that expire, jobs that prune them, and shippers without TLS."""
    if _BUCKETS.search(resource.token) and _is_audit(resource.name, resource.body.get("bucket")):
        yield from _bucket(resource.body, "", None, settings)
    for obj in resource.objects:
        if obj.kind == "Bucket" and obj.group and _is_audit(obj.name):
            yield from _bucket(
                child(obj.body, "spec", "forProvider"), join(obj.path, "spec.forProvider"), obj, settings
            )
        elif obj.kind == "PersistentVolume" and _is_audit(obj.name, child(obj.body, "spec", "claimRef", "name")):
            yield from _reclaim(obj, "spec.persistentVolumeReclaimPolicy", ("spec", "persistentVolumeReclaimPolicy"))
        elif obj.kind == "StorageClass" and _is_audit(obj.name):
            yield from _reclaim(obj, "reclaimPolicy", ("reclaimPolicy",))
        elif obj.kind == "ConfigMap":
            yield from _shipper(obj)
    for pod in resource.pods:
        for container in pod.containers():
            for key in ("command", "args"):
                yield from _pruning(pod.obj, container.body.get(key), f"{container.path}.{key}")


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
        elif key == "days" and _too_few(value, settings.min_archive_days) and "transition" not in where.lower():
            yield Finding(where, f"the archive must keep at least {settings.min_archive_days} days", obj)


def _too_few(value: Plain, least: int) -> bool:
    days = number(value)
    return days is not None and days < least


def _pruning(obj: Obj, command: Plain, path: str) -> Iterator[Verdict]:
    parts = [word for _, word in items(command, path) if isinstance(word, str)]
    for line in re.split(r"[\n;]|&&", " ".join(parts)):
        if "audit" in line.lower() and _PRUNES.search(line):
            yield Finding(path, "this removes parts of the audit trail", obj)
            return


def _shipper(obj: Obj) -> Iterator[Verdict]:
    data = obj.body.get("data")
    for key, text in data.items() if isinstance(data, dict) else ():
        about = isinstance(text, str) and ("audit" in text.lower() or _is_audit(obj.name, key))
        if about and _SHIPS.search(text) and _PLAIN.search(text):
            yield Finding(join(join(obj.path, "data"), key), "the audit trail is shipped without verified TLS", obj)


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

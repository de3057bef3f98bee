"""DAT-03: data in production is backed up."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.detect.names import words
from policies.engine.production import is_production
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Stack
from policies.model.values import UNKNOWN, Plain, child, items, join
from policies.settings import Settings

# Kinds that back up the namespace they live in.
_LOCAL: Final = frozenset(
    {"ScheduledBackup", "ReplicationSource", "BackupSchedule", "BackupConfiguration", "SnapshotSchedule"}
)
_WORDS: Final = frozenset({"backup", "backups", "snapshot", "snapshots", "dump", "dumps", "restic", "velero"})
_VOLUMES: Final = frozenset({"persistentvolumeclaims", "persistentvolumes", "pvc", "pv", "*"})


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find sets with volumes of their own in namespaces that nothing backs up."""
    backups = [obj for _, obj in stack.objects]
    for resource, obj in stack.objects:
        if obj.kind != "StatefulSet" or obj.group not in ("apps", "apps.kruise.io") or obj.patch:
            continue
        claims = child(obj.body, "spec", "volumeClaimTemplates")
        if claims in (None, []) or not is_production(resource, settings):
            continue
        if any(_covers(backup, obj.namespace) for backup in backups):
            continue
        if claims is UNKNOWN:
            yield Unjudged(f"{obj}: spec.volumeClaimTemplates", resource)
        else:
            text = "nothing in this program backs up the data of this namespace"
            yield Finding(join(obj.path, "spec.volumeClaimTemplates"), text, obj, resource)


def _covers(obj: Obj, namespace: str) -> bool:
    """Whether an object backs up the volumes of a namespace again and again."""
    spec = child(obj.body, "spec")
    if True in (child(spec, "suspend"), child(spec, "paused"), child(spec, "disabled")):
        return False
    if obj.kind == "CronJob":
        return obj.namespace == namespace and bool(_WORDS.intersection(words(obj.name)))
    if obj.kind == "RecurringJob":
        return str(child(spec, "task")).startswith(("backup", "snapshot"))
    if obj.kind == "Schedule":
        return _schedule(child(spec, "template"), namespace) if obj.group == "velero.io" else obj.namespace == namespace
    return obj.kind in _LOCAL and obj.namespace == namespace


def _schedule(template: Plain, namespace: str) -> bool:
    """Whether a schedule of Velero takes the volumes of a namespace; an unknown does not speak against it."""
    places, left_out = _texts(template, "includedNamespaces"), _texts(template, "excludedNamespaces")
    if (places and not {namespace, "*"}.intersection(places)) or namespace in left_out:
        return False
    kinds, without = _texts(template, "includedResources"), _texts(template, "excludedResources")
    if (kinds and not _VOLUMES.intersection(kinds)) or _VOLUMES.intersection(without):
        return False
    return child(template, "snapshotVolumes") is not False or child(template, "defaultVolumesToFsBackup") is True


def _texts(template: Plain, field: str) -> set[str]:
    members = [member for _, member in items(child(template, field), "")]
    return {member for member in members if isinstance(member, str)} if UNKNOWN not in members else set()


RULE: Final = Rule(
    control="DAT-03",
    name="data-backed-up",
    title="Data in production is backed up",
    why="Replicas copy a mistake within milliseconds; only a backup brings yesterday back.",
    fix="Add a backup schedule or a CronJob named for it to the namespace.",
    severity=Severity.MEDIUM,
    uses=("production_stacks",),
    stack_check=check,
)

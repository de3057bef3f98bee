"""DAT-03: data in production is backed up."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import EnforcementLevel, Severity

from policies.detect.names import words
from policies.engine.production import is_production
from policies.engine.rule import Finding, Rule, Verdict
from policies.model.objects import Obj
from policies.model.resource import Stack
from policies.model.values import UNKNOWN, child, items, join
from policies.settings import Settings

_KINDS: Final = frozenset({"Schedule", "ScheduledBackup", "ReplicationSource", "BackupSchedule", "RecurringJob"})
_WORDS: Final = frozenset({"backup", "backups", "snapshot", "snapshots"})


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find sets with volumes of their own in namespaces that nothing backs up."""
    places: set[str] = set()
    everywhere = False
    for _, obj in stack.objects:
        if obj.kind in _KINDS or (obj.kind == "CronJob" and _WORDS.intersection(words(obj.name))):
            places.add(obj.namespace)
            covered = child(obj.body, "spec", "template", "includedNamespaces")
            places.update(str(name) for _, name in items(covered, "") if name is not UNKNOWN)
            everywhere = everywhere or (obj.kind == "Schedule" and not covered)
    for resource, obj in stack.objects:
        if everywhere or not is_production(resource, settings) or obj.namespace in places:
            continue
        if obj.kind == "StatefulSet" and obj.group == "apps" and _keeps_data(obj):
            text = "nothing in this program backs up the data of this namespace"
            yield Finding(join(obj.path, "spec.volumeClaimTemplates"), text, obj, resource)


def _keeps_data(obj: Obj) -> bool:
    return bool(child(obj.body, "spec", "volumeClaimTemplates"))


RULE: Final = Rule(
    control="DAT-03",
    name="data-backed-up",
    title="Data in production is backed up",
    why="Replicas copy a mistake within milliseconds; only a backup brings yesterday back.",
    fix="Add a backup schedule or a CronJob named for it to the namespace.",
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    uses=("production_stacks",),
    stack_check=check,
)

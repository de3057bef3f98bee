"""DAT-02: volumes outlive their claims in production."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.production import is_production
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, join
from policies.settings import Settings

_PLACES: Final = {
    "PersistentVolume": (("spec", "persistentVolumeReclaimPolicy"), ("Delete", "Recycle")),
    "StorageClass": (("reclaimPolicy",), ("Delete", None)),
    "StatefulSet": (("spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"), ("Delete",)),
}
_SCALED: Final = ("spec", "persistentVolumeClaimRetentionPolicy", "whenScaled")


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find volumes, classes and sets that delete data together with the object that used it."""
    if not is_production(resource, settings):
        return
    for obj in resource.objects:
        if obj.kind not in _PLACES or obj.group not in ("", "storage.k8s.io", "apps"):
            continue
        places = [_PLACES[obj.kind], *([(_SCALED, ("Delete",))] if obj.kind == "StatefulSet" else [])]
        for keys, forbidden in places:
            value = child(obj.body, *keys)
            path = join(obj.path, ".".join(keys))
            if value is UNKNOWN:
                yield Unjudged(f"{obj}: {path}")
            elif value in forbidden and not (value is None and obj.patch):
                yield Finding(path, "data is deleted together with the claim, the set or the pod", obj)


RULE: Final = Rule(
    control="DAT-02",
    name="volume-retained",
    title="Volumes in production outlive their claims",
    why="A claim is deleted in a second; the data behind it took months.",
    fix="Use Retain.",
    severity=Severity.MEDIUM,
    uses=("production_stacks",),
    kinds=frozenset(_PLACES),
    check=check,
)

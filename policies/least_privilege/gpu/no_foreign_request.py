"""GPU-02: only GPU tiers ask for GPUs."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.tiers import DEVICE_CLASSES, matches, requests, tier_in, tier_of
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, items, join
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find pods outside the GPU tiers that ask for GPUs in any container list or by claim."""
    for pod in resource.pods:
        tier = tier_of(pod, settings)
        if tier is not UNKNOWN and tier in settings.gpu_tiers:
            continue
        for path, what in requests(pod):
            if tier is UNKNOWN or what is UNKNOWN:
                yield Unjudged(f"{pod.obj}: {path}")
            else:
                yield Finding(path, f"{what} is for the tiers {', '.join(settings.gpu_tiers)} only", pod.obj)
    for obj in resource.of("ResourceClaim", "ResourceClaimTemplate"):
        if obj.group == "resource.k8s.io":
            yield from _claim(obj, settings)


def _claim(obj: Obj, settings: Settings) -> Iterator[Verdict]:
    """Claims for GPUs in namespaces that are known to hold none of the GPU tiers."""
    tier = tier_in(obj, obj.labels, settings)
    known = bool(tier is not UNKNOWN and tier) or matches(obj.namespace, settings.foreign_namespaces)
    if not known or tier in settings.gpu_tiers:
        return
    keys = ("spec", "spec", "devices") if obj.kind == "ResourceClaimTemplate" else ("spec", "devices")
    base = join(obj.path, ".".join((*keys, "requests")))
    for path, request in items(child(obj.body, *keys, "requests"), base):
        names = [child(request, "deviceClassName"), child(request, "exactly", "deviceClassName")]
        names += [child(option, "deviceClassName") for _, option in items(child(request, "firstAvailable"), "")]
        if UNKNOWN in names:
            yield Unjudged(f"{obj}: {path}")
        elif any(matches(name, DEVICE_CLASSES) for name in names):
            yield Finding(path, f"GPUs are for the tiers {', '.join(settings.gpu_tiers)} only", obj)


RULE: Final = Rule(
    control="GPU-02",
    name="gpu-request-by-inference-only",
    title="Only inference and batch pods ask for GPUs",
    why="Cards are scarce, and GPU servers do inference only.",
    fix="Remove the request, or label the pod with the tier it belongs to.",
    severity=Severity.MEDIUM,
    nsa="Resource policies",
    uses=("tier_label", "gpu_tiers", "gpu_namespaces", "foreign_namespaces"),
    check=check,
)

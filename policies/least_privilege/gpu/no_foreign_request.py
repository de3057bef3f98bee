"""GPU-02: only GPU tiers ask for GPUs."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.tiers import requests, tier_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
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


RULE: Final = Rule(
    control="GPU-02",
    name="gpu-request-by-inference-only",
    title="Only inference and batch pods ask for GPUs",
    why="Cards are scarce, and GPU servers do inference only.",
    fix="Remove the request, or label the pod with the tier it belongs to.",
    severity=Severity.MEDIUM,
    nsa="Resource policies",
    uses=("tier_label", "gpu_tiers", "gpu_namespaces"),
    check=check,
)

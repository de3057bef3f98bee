"""GPU-03: only GPU tiers select GPU nodes."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.placement import names_gpu_nodes, wishes
from policies.least_privilege.gpu.tiers import tier_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find node selectors and affinities for GPU nodes outside the GPU tiers."""
    allowed = (*settings.gpu_tiers, *settings.gpu_system_tiers)
    for pod in resource.pods:
        tier = tier_of(pod, settings)
        if tier is not UNKNOWN and tier in allowed:
            continue
        for wish in wishes(pod):
            answer = names_gpu_nodes(wish, settings)
            if answer is None or (answer and tier is UNKNOWN):
                yield Unjudged(f"{pod.obj}: {wish.path}")
            elif answer:
                yield Finding(wish.path, "this sends a pod that does no inference to GPU nodes", pod.obj)


RULE: Final = Rule(
    control="GPU-03",
    name="gpu-selector-by-inference-only",
    title="Only inference and batch pods select GPU nodes",
    why="GPU servers do inference only.",
    fix="Select a business or data pool, or label the pod with the tier it belongs to.",
    severity=Severity.HIGH,
    nsa="Resource policies",
    uses=(
        "tier_label",
        "pool_label",
        "role_label",
        "gpu_tiers",
        "gpu_system_tiers",
        "gpu_namespaces",
        "foreign_namespaces",
        "gpu_system_namespaces",
        "offline_namespaces",
        "gpu_roles",
        "gpu_pools",
        "gpu_nodes",
        "gpu_machines",
        "other_roles",
        "gpu_node_labels",
    ),
    check=check,
)

"""GPU-04: only GPU tiers are pinned to GPU nodes by name."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.tiers import matches, tier_of
from policies.model.resource import Stack
from policies.model.values import UNKNOWN
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find node names of GPU nodes, known by pattern or by the labels the program gives its nodes."""
    allowed = (*settings.gpu_tiers, *settings.gpu_system_tiers)
    nodes = {
        obj.name
        for _, obj in stack.objects
        if obj.is_a("Node", "") and matches(obj.labels.get(settings.role_label), settings.gpu_roles)
    }
    for resource, pod in stack.pods:
        name, tier = pod.setting("nodeName"), tier_of(pod, settings)
        if name is None or (tier is not UNKNOWN and tier in allowed):
            continue
        path = f"{pod.path}.nodeName"
        if name is UNKNOWN:
            yield Unjudged(f"{pod.obj}: {path}", resource)
        elif name in nodes or matches(name, settings.gpu_nodes):
            text = "a node name goes past the scheduler, and so past the taint that guards this GPU node"
            yield Finding(path, text, pod.obj, resource)


RULE: Final = Rule(
    control="GPU-04",
    name="gpu-no-pinned-node",
    title="Only inference and batch pods are pinned to GPU nodes",
    why="A node name skips taints and quotas of the scheduler.",
    fix="Remove nodeName and select a pool by label.",
    severity=Severity.HIGH,
    nsa="Resource policies",
    uses=("tier_label", "role_label", "gpu_tiers", "gpu_system_tiers", "gpu_roles", "gpu_nodes"),
    stack_check=check,
)

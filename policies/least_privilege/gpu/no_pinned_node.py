"""GPU-04: only GPU tiers are pinned to GPU nodes by name."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.no_foreign_toleration import reaches_gpu
from policies.least_privilege.gpu.tiers import RESOURCES, matches, tier_in, tier_of
from policies.model.objects import Obj
from policies.model.resource import Stack
from policies.model.values import UNKNOWN, among, child, items, join, number
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find node names of GPU nodes, known by pattern or by the labels the program gives its nodes."""
    allowed = (*settings.gpu_tiers, *settings.gpu_system_tiers)
    nodes = {obj.name for _, obj in stack.objects if obj.is_a("Node", "") and _holds_gpus(obj, settings)}
    for resource, obj in stack.objects:
        name = child(obj.body, "target", "name")
        if obj.is_a("Binding", "") and (among(name, nodes) or matches(name, settings.gpu_nodes)):
            tier = tier_in(obj, obj.labels, settings)
            if tier is UNKNOWN or tier not in allowed:
                text = "this binds a pod to a GPU node past the scheduler"
                yield Finding(join(obj.path, "target.name"), text, obj, resource)
    for resource, pod in stack.pods:
        name, tier = pod.setting("nodeName"), tier_of(pod, settings)
        if name is None or (tier is not UNKNOWN and tier in allowed):
            continue
        path = f"{pod.path}.nodeName"
        if name is UNKNOWN:
            yield Unjudged(f"{pod.obj}: {path}", resource)
        elif among(name, nodes) or matches(name, settings.gpu_nodes):
            text = "a node name goes past the scheduler, and so past the taint that guards this GPU node"
            yield Finding(path, text, pod.obj, resource)


def _holds_gpus(node: Obj, settings: Settings) -> bool:
    if matches(node.labels.get(settings.role_label), settings.gpu_roles):
        return True
    if matches(node.labels.get(settings.pool_label), settings.gpu_pools):
        return True
    amounts = [child(node.body, "status", field) for field in ("capacity", "allocatable")]
    return any(
        matches(name, RESOURCES) and number(amount) != 0
        for held in amounts
        if isinstance(held, dict)
        for name, amount in held.items()
    ) or any(
        reaches_gpu({"key": child(taint, "key"), "value": child(taint, "value")}, settings) is True
        for _, taint in items(child(node.body, "spec", "taints"), "")
    )


RULE: Final = Rule(
    control="GPU-04",
    name="gpu-no-pinned-node",
    title="Only inference and batch pods are pinned to GPU nodes",
    why="A node name skips taints and quotas of the scheduler.",
    fix="Remove nodeName and select a pool by label.",
    severity=Severity.HIGH,
    nsa="Resource policies",
    uses=(
        "tier_label",
        "role_label",
        "pool_label",
        "gpu_tiers",
        "gpu_system_tiers",
        "gpu_namespaces",
        "foreign_namespaces",
        "gpu_system_namespaces",
        "gpu_roles",
        "gpu_pools",
        "gpu_nodes",
        "gpu_taints",
    ),
    stack_check=check,
)

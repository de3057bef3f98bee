"""GPU-01: only GPU tiers tolerate the taints of GPU nodes."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.tiers import matches, tier_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, items
from policies.settings import Settings


def reaches_gpu(toleration: Plain, settings: Settings) -> bool | None:
    """Whether a toleration lets a pod onto GPU nodes; None when that hangs on an unknown."""
    if not isinstance(toleration, dict):
        return None if toleration is UNKNOWN else False
    key, effect = toleration.get("key"), toleration.get("effect")
    operator, value = toleration.get("operator"), toleration.get("value")
    if effect == "PreferNoSchedule":
        return False
    if any(part is UNKNOWN for part in (key, operator)):
        return None
    if not key:
        # Without a key, Exists tolerates every taint of the effect; the pools are tainted NoSchedule.
        return operator == "Exists" and effect != "NoExecute"
    if matches(key, settings.gpu_taints):
        return True
    if key not in (settings.role_label, settings.pool_label):
        return False
    if operator == "Exists":
        return True
    if value is UNKNOWN:
        return None
    return matches(value, settings.gpu_roles if key == settings.role_label else settings.gpu_pools)


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find tolerations of GPU taints outside the GPU tiers."""
    allowed = (*settings.gpu_tiers, *settings.gpu_system_tiers)
    for pod in resource.pods:
        tier = tier_of(pod, settings)
        if tier is not UNKNOWN and tier in allowed:
            continue
        for path, toleration in items(pod.setting("tolerations"), f"{pod.path}.tolerations"):
            answer = reaches_gpu(toleration, settings)
            if answer is None or (answer and tier is UNKNOWN):
                yield Unjudged(f"{pod.obj}: {path}")
            elif answer:
                yield Finding(path, "this lets a pod that does no inference onto GPU nodes", pod.obj)


RULE: Final = Rule(
    control="GPU-01",
    name="gpu-toleration-by-inference-only",
    title="Only inference and batch pods tolerate the taints of GPU nodes",
    why="GPU servers do inference only; the taint is what keeps everything else off them.",
    fix="Remove the toleration, or name the taint it is for: key, value and effect.",
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
        "gpu_roles",
        "gpu_pools",
        "gpu_taints",
    ),
    check=check,
)

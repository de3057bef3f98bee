"""GPU-05: no GPU by environment variable."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.tiers import RESOURCES, matches, tier_of
from policies.model.pods import Container
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, items
from policies.settings import Settings

_VARIABLES: Final = frozenset({"NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES"})
_HARMLESS: Final = ("", "void", "none")


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find containers that take GPUs by variable and ask the scheduler for none."""
    for pod in resource.pods:
        tier = tier_of(pod, settings)
        if tier is not UNKNOWN and tier in settings.gpu_system_tiers:
            continue
        for container in pod.containers():
            for path, entry in items(container.body.get("env"), f"{container.path}.env"):
                if child(entry, "name") not in _VARIABLES or _asks(container):
                    continue
                value = child(entry, "value")
                if value is UNKNOWN:
                    yield Unjudged(f"{pod.obj}: {path}")
                elif value not in _HARMLESS and (value is not None or "valueFrom" in entry):
                    yield Finding(path, "this takes cards that the scheduler gave to nobody", pod.obj)


def _asks(container: Container) -> bool:
    if child(container.body, "resources", "claims"):
        return True
    amounts = child(container.body, "resources", "limits")
    return isinstance(amounts, dict) and any(matches(name, RESOURCES) for name in amounts)


RULE: Final = Rule(
    control="GPU-05",
    name="gpu-not-by-variable",
    title="No container takes GPUs by environment variable",
    why="The runtime then mounts cards that belong to another pod.",
    fix="Ask for the card in resources.limits and remove the variable.",
    severity=Severity.HIGH,
    nsa="Resource policies",
    uses=("tier_label", "gpu_system_tiers"),
    check=check,
)

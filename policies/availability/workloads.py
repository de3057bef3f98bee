"""Services of a program that are meant to stay up, and how many pods they have."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from policies.engine.production import is_production
from policies.model.objects import Obj
from policies.model.pods import Pod
from policies.model.resource import Resource, Stack
from policies.model.selectors import matches
from policies.model.values import UNKNOWN, Plain, child, number
from policies.settings import Settings

_KINDS: Final = {
    "Deployment": ("apps", "extensions"),
    "StatefulSet": ("apps", "apps.kruise.io"),
    "Rollout": ("argoproj.io",),
    "CloneSet": ("apps.kruise.io",),
}
_SCALERS: Final = {"HorizontalPodAutoscaler": ("minReplicas", 1), "ScaledObject": ("minReplicaCount", 0)}


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload of a production stack with its pod. `replicas`, its least number of pods, may be `UNKNOWN`."""

    resource: Resource
    obj: Obj
    pod: Pod
    replicas: Plain
    scaled: bool = False

    @property
    def single(self) -> bool | None:
        """Whether there may be only one pod; None when that hangs on an unknown."""
        amount = number(self.replicas)
        return None if self.replicas is UNKNOWN else amount is not None and amount < 2

    @property
    def several(self) -> bool:
        """Whether there are, or may turn out to be, two pods or more."""
        amount = number(self.replicas)
        return self.replicas is UNKNOWN or (amount is not None and amount >= 2)


def workloads(stack: Stack, settings: Settings) -> list[Workload]:
    """Workloads that are held to the rules; those that somebody scaled to zero serve nobody."""
    found: list[Workload] = []
    scalers = _scalers(stack)
    for resource, pod in stack.pods:
        obj = pod.obj
        if obj.group not in _KINDS.get(obj.kind, ()) or obj.patch or not is_production(resource, settings):
            continue
        key = (obj.namespace, obj.kind, obj.name)
        replicas = scalers[key] if key in scalers else child(obj.body, "spec", "replicas")
        amount = 1 if replicas is None else replicas
        if amount is UNKNOWN or key in scalers or number(amount) != 0:
            found.append(Workload(resource, obj, pod, amount, key in scalers))
    return found


def _scalers(stack: Stack) -> dict[tuple[str, str, str], Plain]:
    """Least number of pods of workloads that an autoscaler owns."""
    found: dict[tuple[str, str, str], Plain] = {}
    for _, obj in stack.objects:
        if obj.kind in _SCALERS:
            field, default = _SCALERS[obj.kind]
            target = child(obj.body, "spec", "scaleTargetRef")
            kind, name, least = child(target, "kind"), child(target, "name"), child(obj.body, "spec", field)
            if isinstance(name, str):
                key = (obj.namespace, kind if isinstance(kind, str) else "Deployment", name)
                found[key] = default if least is None else least
    return found


def served_with(workload: Workload, others: list[Workload], stack: Stack) -> Iterator[list[Workload]]:
    """For each Service that selects a workload: all the workloads it selects."""
    namespace = workload.obj.namespace
    for _, obj in stack.objects:
        selector = child(obj.body, "spec", "selector")
        if not obj.is_a("Service", "") or obj.namespace != namespace or not isinstance(selector, dict) or not selector:
            continue
        chosen = {"matchLabels": selector}
        if matches(chosen, workload.pod.labels):
            yield [o for o in others if o.obj.namespace == namespace and matches(chosen, o.pod.labels)]

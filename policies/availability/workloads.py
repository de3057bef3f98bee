"""Services of a program that are meant to stay up, and how many pods they have."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from policies.engine.production import is_production
from policies.model.objects import Obj
from policies.model.pods import Pod
from policies.model.resource import Resource, Stack
from policies.model.values import UNKNOWN, Plain, child, number
from policies.settings import Settings

_KINDS: Final = ("Deployment", "StatefulSet")
_GROUPS: Final = ("apps", "extensions")


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment or StatefulSet of a production stack with its pod; `replicas` may be `UNKNOWN`."""

    resource: Resource
    obj: Obj
    pod: Pod
    replicas: Plain


def workloads(stack: Stack, settings: Settings) -> Iterator[Workload]:
    """Workloads that are held to the rules; those scaled to zero serve nobody."""
    scaled = _scaled(stack)
    for resource, pod in stack.pods:
        obj = pod.obj
        if obj.kind not in _KINDS or obj.group not in _GROUPS or obj.patch or not is_production(resource, settings):
            continue
        key = (obj.namespace, obj.kind, obj.name)
        replicas = scaled[key] if key in scaled else child(obj.body, "spec", "replicas")
        amount = 1 if replicas is None else replicas
        if amount is UNKNOWN or number(amount) != 0:
            yield Workload(resource, obj, pod, amount)


def _scaled(stack: Stack) -> dict[tuple[str, str, str], Plain]:
    """Least number of pods of workloads that an autoscaler owns."""
    found: dict[tuple[str, str, str], Plain] = {}
    for _, obj in stack.objects:
        field = {"HorizontalPodAutoscaler": "minReplicas", "ScaledObject": "minReplicaCount"}.get(obj.kind)
        if field is not None:
            target = child(obj.body, "spec", "scaleTargetRef")
            kind, name = child(target, "kind"), child(target, "name")
            if isinstance(name, str):
                found[(obj.namespace, kind if isinstance(kind, str) else "Deployment", name)] = child(
                    obj.body, "spec", field
                )
    return found

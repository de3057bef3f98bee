"""AVL-01: services in production have two pods."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.availability.workloads import Workload, served_with, workloads
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Stack
from policies.model.values import join, number
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find workloads with a single pod, by their own number or their autoscaler's least."""
    found = workloads(stack, settings)
    for workload in found:
        path = join(workload.obj.path, "spec.replicas")
        if workload.single is None:
            yield Unjudged(f"{workload.obj}: {path}", workload.resource)
        elif workload.single:
            groups = list(served_with(workload, found, stack))
            # An autoscaler that goes down to nothing is meant for work that waits, not for a service.
            idle = workload.scaled and number(workload.replicas) == 0 and not groups
            if not idle and not (groups and all(_pods(group) >= 2 for group in groups)):
                yield Finding(path, "one pod is a single point of failure", workload.obj, workload.resource)


def _pods(group: list[Workload]) -> float:
    """Pods behind one Service: a canary of one pod stands beside those of the stable release."""
    return sum(number(workload.replicas) or 0 for workload in group)


RULE: Final = Rule(
    control="AVL-01",
    name="workload-two-replicas",
    title="Services in production have at least two pods",
    why="A restart, a drain or a broken node stops a service of one pod.",
    fix="Set replicas, or minReplicas of the autoscaler, to 2 or more. A queue of one pod is an exception.",
    severity=Severity.MEDIUM,
    uses=("production_stacks",),
    stack_check=check,
)

"""AVL-01: services in production have two pods."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import EnforcementLevel, Severity

from policies.availability.workloads import workloads
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Stack
from policies.model.values import UNKNOWN, join, number
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find workloads with a single pod, by their own number or their autoscaler's least."""
    for workload in workloads(stack, settings):
        path = join(workload.obj.path, "spec.replicas")
        amount = number(workload.replicas)
        if workload.replicas is UNKNOWN:
            yield Unjudged(f"{workload.obj}: {path}", workload.resource)
        elif amount is not None and amount < 2:
            yield Finding(path, "one pod is a single point of failure", workload.obj, workload.resource)


RULE: Final = Rule(
    control="AVL-01",
    name="workload-two-replicas",
    title="Services in production have at least two pods",
    why="A restart, a drain or a broken node stops a service of one pod.",
    fix="Set replicas, or minReplicas of the autoscaler, to 2 or more.",
    severity=Severity.MEDIUM,
    # A canary or a queue of one pod can be a decision; the team raises the level when it is none.
    level=EnforcementLevel.ADVISORY,
    uses=("production_stacks",),
    stack_check=check,
)

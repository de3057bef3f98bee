"""AVL-03: pods of a service are spread over nodes."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.availability.workloads import workloads
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Stack
from policies.model.values import UNKNOWN, child, number
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find workloads of several pods that may all land on one node."""
    for workload in workloads(stack, settings):
        amount = number(workload.replicas)
        if workload.replicas is not UNKNOWN and (amount is None or amount < 2):
            continue
        spread = workload.pod.setting("topologySpreadConstraints")
        apart = child(workload.pod.setting("affinity"), "podAntiAffinity")
        path = f"{workload.pod.path}.topologySpreadConstraints"
        if spread is UNKNOWN or apart is UNKNOWN:
            yield Unjudged(f"{workload.obj}: {path}", workload.resource)
        elif not spread and not apart:
            yield Finding(path, "all pods may land on the same node", workload.obj, workload.resource)


RULE: Final = Rule(
    control="AVL-03",
    name="workload-spread",
    title="Pods of a service in production are spread over nodes",
    why="Two pods on one node fail together.",
    fix="Add a topologySpreadConstraint over kubernetes.io/hostname, or a podAntiAffinity.",
    severity=Severity.MEDIUM,
    uses=("production_stacks",),
    stack_check=check,
)

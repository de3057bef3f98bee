"""AVL-02: services in production have a disruption budget that leaves room."""

import math
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.availability.workloads import workloads
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Stack
from policies.model.selectors import is_empty, matches
from policies.model.values import Plain, child, join, number
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find workloads of several pods without a budget, and budgets that allow no disruption or any."""
    budgets = [obj for _, obj in stack.objects if obj.is_a("PodDisruptionBudget", "policy")]
    for workload in workloads(stack, settings):
        if not workload.several:
            continue
        own = [b for b in budgets if b.namespace == workload.obj.namespace]
        answers = [(budget, _selects(budget, workload.pod.labels)) for budget in own]
        fitting = [budget for budget, answer in answers if answer]
        if not fitting:
            if any(answer is None for _, answer in answers):
                yield Unjudged(f"{workload.obj}: PodDisruptionBudgets", workload.resource)
            else:
                text = "a drain may stop all pods of this service at once"
                yield Finding(workload.pod.metadata_path, text, workload.obj, workload.resource)
        for budget in fitting:
            fault = _fault(budget, number(workload.replicas))
            if fault:
                yield Finding(join(budget.path, "spec"), fault, budget, workload.resource)
        if len(fitting) > 1:
            text = "two budgets select these pods, so every eviction is refused"
            yield Finding(workload.pod.metadata_path, text, workload.obj, workload.resource)


def _selects(budget: Obj, labels: dict[str, Plain]) -> bool | None:
    """Whether a budget selects pods: without a selector none, and an empty one none in the old version."""
    selector = child(budget.body, "spec", "selector")
    if selector is None or (budget.version == "v1beta1" and is_empty(selector)):
        return False
    return matches(selector, labels)


def _fault(budget: Obj, replicas: float | None) -> str:
    """What is wrong with a budget for so many pods; nothing when an unknown decides."""
    most, least = child(budget.body, "spec", "maxUnavailable"), child(budget.body, "spec", "minAvailable")
    if most is not None:
        goes = _pods(most, replicas)
    else:
        kept = _pods(least, replicas)
        goes = None if kept is None or replicas is None else replicas - kept
    if str(most) in ("0", "0%") or least == "100%" or (goes is not None and goes <= 0):
        return f"the budget {budget.name} never lets a pod go, so no node can be drained"
    if str(least) in ("0", "0%") or most == "100%" or (goes is not None and replicas is not None and goes >= replicas):
        return f"the budget {budget.name} lets all pods go at once"
    return ""


def _pods(amount: Plain, replicas: float | None) -> float | None:
    """Pods that an amount or a percentage stands for, rounded up as the API server does."""
    if isinstance(amount, str) and amount.endswith("%"):
        share = number(amount[:-1])
        return None if share is None or replicas is None else math.ceil(share * replicas / 100)
    return number(amount)


RULE: Final = Rule(
    control="AVL-02",
    name="workload-disruption-budget",
    title="Services in production have a disruption budget",
    why="Without one a drain stops every pod; with one that allows nothing no node can be drained.",
    fix="Add a PodDisruptionBudget with maxUnavailable 1 that selects these pods.",
    severity=Severity.MEDIUM,
    uses=("production_stacks",),
    stack_check=check,
)

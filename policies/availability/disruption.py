"""AVL-02: services in production have a disruption budget that leaves room."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.availability.workloads import workloads
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Stack
from policies.model.selectors import matches
from policies.model.values import UNKNOWN, Plain, child, number
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find workloads of several pods without a budget, and budgets that allow no disruption or any."""
    budgets = [obj for _, obj in stack.objects if obj.is_a("PodDisruptionBudget", "policy")]
    for workload in workloads(stack, settings):
        amount = number(workload.replicas)
        if workload.replicas is not UNKNOWN and (amount is None or amount < 2):
            continue
        own = [b for b in budgets if b.namespace == workload.obj.namespace]
        answers = [(budget, matches(child(budget.body, "spec", "selector"), workload.pod.labels)) for budget in own]
        fitting = [budget for budget, answer in answers if answer]
        if not fitting:
            if any(answer is None for _, answer in answers):
                yield Unjudged(f"{workload.obj}: PodDisruptionBudgets", workload.resource)
            else:
                text = "a drain may stop all pods of this service at once"
                yield Finding(workload.pod.metadata_path, text, workload.obj, workload.resource)
        for budget in fitting:
            if _blocks(budget, amount):
                text = f"the budget {budget.name} never lets a pod go, so no node can be drained"
                yield Finding("spec", text, budget, workload.resource)


def _blocks(budget: Obj, replicas: float | None) -> bool:
    most, least = child(budget.body, "spec", "maxUnavailable"), child(budget.body, "spec", "minAvailable")
    if most is not None and most is not UNKNOWN:
        return str(most) in ("0", "0%")
    if least is None or least is UNKNOWN:
        return False
    return least == "100%" or _reaches(least, replicas)


def _reaches(least: Plain, replicas: float | None) -> bool:
    amount = number(least)
    return amount is not None and replicas is not None and amount >= replicas


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

"""NET-01: every namespace denies both directions by default."""

import fnmatch
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.policies import network_of
from policies.least_privilege.network.traffic import DIRECTIONS
from policies.model.resource import Stack
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find namespaces without a policy that selects all their pods and denies a direction."""
    network = network_of(stack)
    elsewhere = (*settings.system_namespaces, *settings.network_protected_elsewhere)
    for resource, obj in stack.objects:
        if not obj.is_a("Namespace", "") or obj.patch:
            continue
        if not obj.name:
            yield Unjudged(f"{obj}: metadata.name", resource)
            continue
        if any(fnmatch.fnmatchcase(obj.name, pattern) for pattern in elsewhere):
            continue
        answers = {direction: network.denies(obj.name, direction) for direction in DIRECTIONS}
        missing = [direction for direction, answer in answers.items() if answer is False]
        if missing:
            text = f"no NetworkPolicy of this namespace denies {' and '.join(missing)} to all its pods"
            yield Finding("metadata.name", text, obj, resource)
        elif None in answers.values():
            yield Unjudged(f"{obj}: NetworkPolicies", resource)


RULE: Final = Rule(
    control="NET-01",
    name="namespace-default-deny",
    title="Every namespace denies traffic in both directions by default",
    why="Without it every pod of the cluster reaches every port, and every pod reaches the world.",
    fix="Add a NetworkPolicy with an empty podSelector, policyTypes Ingress and Egress, and no rules.",
    severity=Severity.HIGH,
    cis="5.3.2",
    uses=("network_protected_elsewhere", "system_namespaces"),
    stack_check=check,
)

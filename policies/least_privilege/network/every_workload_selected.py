"""NET-07: every workload is governed by a policy in both directions."""

import fnmatch
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.policies import network_of
from policies.least_privilege.network.traffic import DIRECTIONS
from policies.model.resource import Stack
from policies.settings import Settings

# Kinds that make pods in the namespace they live in; other resources only quote pod templates.
_NO_WORKLOADS: Final = frozenset({"PodTemplate", "ControllerRevision"})


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find workloads that no policy of their own namespace selects."""
    network = network_of(stack)
    elsewhere = (*settings.system_namespaces, *settings.network_protected_elsewhere)
    for resource, pod in stack.pods:
        if pod.partial or pod.obj.kind in _NO_WORKLOADS or pod.obj.group == "helm.sh":
            continue
        namespace = pod.obj.namespace
        if not namespace:
            yield Unjudged(f"{pod.obj}: metadata.namespace", resource)
            continue
        if any(fnmatch.fnmatchcase(namespace, pattern) for pattern in elsewhere):
            continue
        answers = {direction: network.covers(namespace, pod.labels, direction) for direction in DIRECTIONS}
        missing = [direction for direction, answer in answers.items() if answer is False]
        if missing:
            text = f"no NetworkPolicy of namespace {namespace} governs {' and '.join(missing)} of these pods"
            yield Finding(pod.metadata_path, text, pod.obj, resource)
        elif None in answers.values():
            yield Unjudged(f"{pod.obj}: NetworkPolicies", resource)


RULE: Final = Rule(
    control="NET-07",
    name="workload-selected-by-policy",
    title="Every workload is governed by a network policy in both directions",
    why="A policy in another namespace or for other labels protects nothing.",
    fix="Add policies whose podSelector matches these pods, in their namespace, for Ingress and Egress.",
    severity=Severity.HIGH,
    cis="5.3.2",
    uses=("network_protected_elsewhere", "system_namespaces"),
    stack_check=check,
)

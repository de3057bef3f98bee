"""PSS-07: runAsNonRoot."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, of_container, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, Plain, child


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find pods and containers that may run as root."""
    if pod.setting("hostUsers") is False:
        # Root inside a user namespace is nobody on the node; the standard relaxes the rule since 1.35.
        return
    own = child(pod.setting("securityContext"), "runAsNonRoot")
    path = f"{pod.path}.securityContext.runAsNonRoot"
    if own is UNKNOWN:
        yield unjudged(pod, path)
    elif own is not None and own is not True:
        yield found(pod, path, "this allows root")
    for container in pod.containers():
        yield from _container(pod, own, of_container(container, "runAsNonRoot"), container.path, container.partial)


def _container(pod: Pod, own: Plain, value: Plain, where: str, partial: bool) -> Iterator[Verdict]:
    path = f"{where}.securityContext.runAsNonRoot"
    if value is UNKNOWN:
        yield unjudged(pod, path)
    elif value is None:
        if own is None and not partial:
            yield found(pod, path, "neither the pod nor the container forbids root")
    elif value is not True:
        yield found(pod, path, "this allows root")


RULE: Final[Rule] = pod_security(
    7,
    "run-as-non-root",
    "No container may run as root",
    judge,
    why="Root in a container is root on the node after any escape.",
    fix="Set runAsNonRoot to true on the pod and nowhere to false.",
    severity=Severity.HIGH,
    cis="5.2.6",
)

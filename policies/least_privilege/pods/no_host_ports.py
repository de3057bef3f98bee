"""PSS-04: no port of the host."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, child, items, number


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find ports opened on the node."""
    for container in pod.containers():
        for path, port in items(container.body.get("ports"), f"{container.path}.ports"):
            value = child(port, "hostPort")
            if value is UNKNOWN:
                yield unjudged(pod, path)
            elif value is not None and number(value) != 0:
                yield found(pod, f"{path}.hostPort", "this opens a port on the node itself")


RULE: Final[Rule] = pod_security(
    4,
    "no-host-ports",
    "No container opens a port of its node",
    judge,
    why="A port on the node is reachable past Services and most network policies.",
    fix="Remove hostPort and publish the port with a Service.",
    severity=Severity.MEDIUM,
    cis="5.2.12",
)

"""PSS-06: all capabilities dropped."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, of_container, pod_security, unjudged
from policies.model.pods import Container, Pod
from policies.model.values import UNKNOWN, items


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find containers that keep or add capabilities."""
    if pod.windows:
        return
    for container in pod.containers():
        yield from _dropped(pod, container)
        base = f"{container.path}.securityContext.capabilities.add"
        for path, name in items(of_container(container, "capabilities", "add"), base):
            if name is UNKNOWN:
                yield unjudged(pod, path)
            elif name != "NET_BIND_SERVICE":
                yield found(pod, path, "only NET_BIND_SERVICE may be added")


def _dropped(pod: Pod, container: Container) -> Iterator[Verdict]:
    path = f"{container.path}.securityContext.capabilities.drop"
    drop = of_container(container, "capabilities", "drop")
    names = [name for _, name in items(drop, path)]
    if "ALL" in [name for name in names if name is not UNKNOWN]:
        return
    if UNKNOWN in names:
        yield unjudged(pod, path)
    elif drop is not None or not container.partial:
        yield found(pod, path, 'the list must hold "ALL", written so')


RULE: Final[Rule] = pod_security(
    6,
    "drop-capabilities",
    "Every container drops all capabilities",
    judge,
    why="The runtime's default set allows forged packets, changed owners and more.",
    fix='Set capabilities.drop to ["ALL"] and add at most NET_BIND_SERVICE.',
    severity=Severity.HIGH,
    cis="5.2.7, 5.2.8",
)

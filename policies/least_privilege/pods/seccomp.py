"""PSS-09: a seccomp profile."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, of_container, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, child

_ALLOWED: Final = ("RuntimeDefault", "Localhost")


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find pods and containers without a seccomp profile; annotations no longer count."""
    if pod.windows:
        return
    own = child(pod.setting("securityContext"), "seccompProfile", "type")
    path = f"{pod.path}.securityContext.seccompProfile.type"
    if own is UNKNOWN:
        yield unjudged(pod, path)
    elif own is not None and own not in _ALLOWED:
        yield found(pod, path, "only RuntimeDefault and Localhost filter system calls")
    for container in pod.containers():
        value = of_container(container, "seccompProfile", "type")
        path = f"{container.path}.securityContext.seccompProfile.type"
        if value is UNKNOWN:
            yield unjudged(pod, path)
        elif value is None:
            if own is None and not container.partial:
                yield found(pod, path, "neither the pod nor the container has a seccomp profile")
        elif value not in _ALLOWED:
            yield found(pod, path, "only RuntimeDefault and Localhost filter system calls")


RULE: Final[Rule] = pod_security(
    9,
    "seccomp",
    "Every container has a seccomp profile",
    judge,
    why="Without a profile every system call of the kernel is open to attack.",
    fix="Set securityContext.seccompProfile.type to RuntimeDefault on the pod.",
    severity=Severity.MEDIUM,
    cis="5.6.2",
)

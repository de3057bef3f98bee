"""PSS-05: no way to gain privileges."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, of_container, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find containers that do not set allowPrivilegeEscalation to false."""
    if pod.windows:
        return
    for container in pod.containers():
        value = of_container(container, "allowPrivilegeEscalation")
        path = f"{container.path}.securityContext.allowPrivilegeEscalation"
        if value is UNKNOWN:
            yield unjudged(pod, path)
        elif value is not False and not (value is None and container.partial):
            text = (
                "this is not set, and the default is true" if value is None else "this lets a process gain privileges"
            )
            yield found(pod, path, text)


RULE: Final[Rule] = pod_security(
    5,
    "no-privilege-escalation",
    "No container may gain privileges",
    judge,
    why="With the default a setuid program makes root of any user.",
    fix="Set allowPrivilegeEscalation to false on every container.",
    severity=Severity.HIGH,
    cis="5.2.6",
)

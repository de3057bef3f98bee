"""PSS-12: /proc stays masked."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, of_container, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find containers with an unmasked /proc; a user namespace excuses nothing here."""
    for container in pod.containers():
        value = of_container(container, "procMount")
        path = f"{container.path}.securityContext.procMount"
        if value is UNKNOWN:
            yield unjudged(pod, path)
        elif value not in (None, "Default"):
            yield found(pod, path, "this shows parts of /proc that the runtime hides")


RULE: Final[Rule] = pod_security(
    12,
    "proc-mount",
    "No container unmasks /proc",
    judge,
    why="The hidden parts of /proc change the kernel.",
    fix="Remove procMount.",
    severity=Severity.HIGH,
)

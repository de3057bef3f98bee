"""PSS-01: no privileged container."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import flag, of_container, pod_security
from policies.model.pods import Pod


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find privileged containers of any list."""
    for container in pod.containers():
        path = f"{container.path}.securityContext.privileged"
        yield from flag(pod, path, of_container(container, "privileged"), "a privileged container is root on the node")


RULE: Final[Rule] = pod_security(
    1,
    "no-privileged",
    "No container is privileged",
    judge,
    why="A privileged container has every device and capability of the node.",
    fix="Remove privileged; ask for the device or the capability that is needed.",
    severity=Severity.CRITICAL,
    cis="5.2.2",
)

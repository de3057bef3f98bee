"""PSS-02: no namespace of the host."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import flag, pod_security
from policies.model.pods import Pod


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find hostPID, hostIPC and hostNetwork."""
    for field in ("hostPID", "hostIPC", "hostNetwork"):
        yield from flag(pod, f"{pod.path}.{field}", pod.setting(field), f"{field} shares the node's own namespace")


RULE: Final[Rule] = pod_security(
    2,
    "no-host-namespaces",
    "No pod shares the process, IPC or network namespace of its node",
    judge,
    why="Host namespaces show the processes, memory and traffic of everything on the node, past network policies.",
    fix="Remove hostPID, hostIPC and hostNetwork.",
    severity=Severity.HIGH,
    cis="5.2.3, 5.2.4, 5.2.5",
)

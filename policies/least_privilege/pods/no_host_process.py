"""PSS-15: no Windows host process."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import contexts, flag, pod_security
from policies.model.pods import Pod
from policies.model.values import child


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find windowsOptions.hostProcess at either level."""
    for path, context in contexts(pod):
        value = child(context, "windowsOptions", "hostProcess")
        text = "a host process runs on the node itself"
        yield from flag(pod, f"{path}.windowsOptions.hostProcess", value, text)


RULE: Final[Rule] = pod_security(
    15,
    "no-host-process",
    "No pod runs as a process of a Windows node",
    judge,
    why="A host process is not contained at all.",
    fix="Remove windowsOptions.hostProcess.",
    severity=Severity.CRITICAL,
    cis="5.2.9",
)

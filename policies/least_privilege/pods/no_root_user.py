"""PSS-08: no user 0."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import contexts, found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, child, number


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find runAsUser 0 at either level."""
    if pod.setting("hostUsers") is False:
        return
    for path, context in contexts(pod):
        value = child(context, "runAsUser")
        if value is UNKNOWN:
            yield unjudged(pod, f"{path}.runAsUser")
        elif number(value) == 0:
            yield found(pod, f"{path}.runAsUser", "user 0 is root")


RULE: Final[Rule] = pod_security(
    8,
    "no-root-user",
    "No container runs as user 0",
    judge,
    why="Root in a container is root on the node after any escape.",
    fix="Set runAsUser to a number above 0.",
    severity=Severity.HIGH,
    cis="5.2.6",
)

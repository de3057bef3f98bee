"""POD-01: the root file system is read-only."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, of_container, over_pods, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find containers that may write into their image."""
    if pod.windows:
        return
    for container in pod.containers():
        if container.listed == "ephemeralContainers":
            continue
        value = of_container(container, "readOnlyRootFilesystem")
        path = f"{container.path}.securityContext.readOnlyRootFilesystem"
        if value is UNKNOWN:
            yield unjudged(pod, path)
        elif value is not True and not (value is None and container.partial):
            yield found(pod, path, "an intruder may change the programs of this container")


RULE: Final = Rule(
    control="POD-01",
    name="pod-read-only-root",
    title="No container writes into its image",
    why="What cannot be written cannot be replaced; not part of the restricted standard, but of NSA's guide.",
    fix="Set readOnlyRootFilesystem to true and mount an emptyDir where the program writes.",
    severity=Severity.MEDIUM,
    nsa="Kubernetes Pod security (C-0017)",
    check=over_pods(judge),
)

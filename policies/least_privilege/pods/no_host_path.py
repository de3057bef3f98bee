"""PSS-03: no hostPath volume."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, child, items


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find volumes that mount a path of the node."""
    for path, volume in items(pod.setting("volumes"), f"{pod.path}.volumes"):
        source = child(volume, "hostPath")
        if source is UNKNOWN:
            yield unjudged(pod, path)
        elif source is not None:
            yield found(pod, f"{path}.hostPath", "this mounts a path of the node")


RULE: Final[Rule] = pod_security(
    3,
    "no-host-path",
    "No pod mounts a path of its node",
    judge,
    why="A path of the node reaches the kubelet's keys, the container runtime's socket and other pods' files.",
    fix="Use a persistentVolumeClaim, an emptyDir or a CSI volume.",
    severity=Severity.HIGH,
    cis="5.2.10",
)

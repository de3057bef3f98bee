"""PSS-03: no hostPath volume."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Verdict
from policies.least_privilege.pods.fields import found, over_pods, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, items, join
from policies.settings import Settings


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find volumes that mount a path of the node."""
    for path, volume in items(pod.setting("volumes"), f"{pod.path}.volumes"):
        source = child(volume, "hostPath")
        if source is UNKNOWN:
            yield unjudged(pod, path)
        elif source is not None:
            yield found(pod, f"{path}.hostPath", "this mounts a path of the node")


def _volumes(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find persistent volumes that are a path of the node: a claim reaches it where a pod may not."""
    yield from over_pods(judge)(resource, settings)
    for obj in resource.of("PersistentVolume"):
        if obj.group == "" and child(obj.body, "spec", "hostPath") is not None:
            path = join(obj.path, "spec.hostPath")
            yield Finding(path, "a claim of this volume mounts a path of the node", obj)


_OF_PODS: Final[Rule] = pod_security(
    3,
    "no-host-path",
    "No pod mounts a path of its node",
    judge,
    why="A path of the node reaches the kubelet's keys, the container runtime's socket and other pods' files.",
    fix="Use a persistentVolumeClaim, an emptyDir or a CSI volume.",
    severity=Severity.HIGH,
    cis="5.2.10",
)
RULE: Final[Rule] = replace(_OF_PODS, check=_volumes)

"""PSS-14: volume types."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, items

_ALLOWED: Final = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)
# hostPath has a rule of its own.
_ELSEWHERE: Final = frozenset({"name", "hostPath"})


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find volume types outside the standard's list."""
    for path, volume in items(pod.setting("volumes"), f"{pod.path}.volumes"):
        if volume is UNKNOWN:
            yield unjudged(pod, path)
        elif isinstance(volume, dict):
            for kind, source in volume.items():
                if kind not in _ALLOWED and kind not in _ELSEWHERE and (source is UNKNOWN or isinstance(source, dict)):
                    yield found(pod, f"{path}.{kind}", "this volume type is not allowed")


RULE: Final[Rule] = pod_security(
    14,
    "volume-types",
    "Only volume types of the restricted standard are used",
    judge,
    why="In-tree network volumes run mount code as root on the node and carry keys in the pod.",
    fix="Use configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected or secret.",
    severity=Severity.MEDIUM,
)

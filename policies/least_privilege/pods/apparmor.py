"""PSS-10: AppArmor stays on."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import contexts, found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, child, join

_ANNOTATION: Final = "container.apparmor.security.beta.kubernetes.io/"


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find profiles switched off by field or annotation."""
    for path, context in contexts(pod):
        value = child(context, "appArmorProfile", "type")
        if value is UNKNOWN:
            yield unjudged(pod, f"{path}.appArmorProfile.type")
        elif value is not None and value not in ("RuntimeDefault", "Localhost"):
            yield found(pod, f"{path}.appArmorProfile.type", "only RuntimeDefault and Localhost confine the container")
    annotations = pod.metadata.get("annotations")
    for key, value in annotations.items() if isinstance(annotations, dict) else ():
        if not key.startswith(_ANNOTATION):
            continue
        path = join(f"{pod.metadata_path}.annotations", key)
        if value is UNKNOWN:
            yield unjudged(pod, path)
        elif value not in ("", "runtime/default") and not str(value).startswith("localhost/"):
            yield found(pod, path, "only runtime/default and localhost profiles confine the container")


RULE: Final[Rule] = pod_security(
    10,
    "apparmor",
    "No container switches AppArmor off",
    judge,
    why="An unconfined container may touch files and kernel interfaces that the runtime's profile denies.",
    fix="Use RuntimeDefault or a Localhost profile, or leave the field out.",
    severity=Severity.MEDIUM,
    cis="5.6.3",
)

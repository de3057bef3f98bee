"""PSS-11: SELinux stays confined."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import contexts, found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, child

_TYPES: Final = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find SELinux types, users and roles of the pod's own choosing."""
    for path, context in contexts(pod):
        for field in ("type", "user", "role"):
            value = child(context, "seLinuxOptions", field)
            where = f"{path}.seLinuxOptions.{field}"
            allowed = _TYPES if field == "type" else ("",)
            if value is UNKNOWN:
                yield unjudged(pod, where)
            elif value is not None and value not in allowed:
                yield found(pod, where, "this leaves the types made for containers")


RULE: Final[Rule] = pod_security(
    11,
    "selinux",
    "No container chooses its own SELinux type, user or role",
    judge,
    why="A type such as spc_t is not confined at all.",
    fix="Remove user and role; use a container type or leave it out.",
    severity=Severity.MEDIUM,
    cis="5.6.3",
)

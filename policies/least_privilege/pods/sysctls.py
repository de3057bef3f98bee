"""PSS-13: safe sysctls only."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, among, child, items

SAFE: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
        "net.ipv4.tcp_slow_start_after_idle",
        "net.ipv4.tcp_notsent_lowat",
    }
)


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find sysctls that reach beyond the pod."""
    sysctls = child(pod.setting("securityContext"), "sysctls")
    for path, sysctl in items(sysctls, f"{pod.path}.securityContext.sysctls"):
        name = child(sysctl, "name")
        if name is UNKNOWN:
            yield unjudged(pod, path)
        elif not among(name, SAFE):
            yield found(pod, path, "this sysctl is not confined to the pod")


RULE: Final[Rule] = pod_security(
    13,
    "sysctls",
    "Only sysctls that are confined to the pod are set",
    judge,
    why="Other sysctls change the node for everybody.",
    fix="Remove the sysctl or set it on the node.",
    severity=Severity.MEDIUM,
)

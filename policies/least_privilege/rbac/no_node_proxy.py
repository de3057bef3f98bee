"""RBAC-08: no role reaches the kubelet through nodes/proxy."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import READ, WRITE, forbid

RULE: Final = Rule(
    control="RBAC-08",
    name="rbac-no-node-proxy",
    title="No role reaches the kubelet through nodes/proxy",
    why="nodes/proxy runs commands in any pod of the node, past audit and admission; get is enough for it.",
    fix="Grant nodes/metrics or nodes/stats instead.",
    severity=Severity.CRITICAL,
    cis="5.1.10",
    check=forbid(
        (("",), ("nodes/proxy",), (*READ, *WRITE, "proxy")),
        text="nodes/proxy gives commands in every pod of a node, unseen by the audit log",
    ),
)

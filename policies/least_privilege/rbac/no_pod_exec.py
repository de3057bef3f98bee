"""RBAC-09: no role enters running pods."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import READ, WRITE, forbid

RULE: Final = Rule(
    control="RBAC-09",
    name="rbac-no-pod-exec",
    title="No role enters running pods",
    why="Whoever enters a pod has its token, its mounted keys and its memory.",
    fix="Remove the subresource; debug through a break-glass role outside this program.",
    severity=Severity.HIGH,
    nsa="Authentication and authorization (C-0002)",
    check=forbid(
        (("",), ("pods/exec", "pods/attach", "pods/portforward"), ("get", "create")),
        (("",), ("pods/proxy", "services/proxy"), (*READ, *WRITE)),
        (("",), ("pods/ephemeralcontainers",), ("create", "update", "patch")),
        text="this rule lets the subject enter running pods",
    ),
)

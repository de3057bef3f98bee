"""RBAC-20: no role changes namespaces."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid

RULE: Final = Rule(
    control="RBAC-20",
    name="rbac-no-namespace-patch",
    title="No role changes namespaces",
    why="Changing a namespace's labels lowers its Pod Security level.",
    fix="Leave namespaces to the platform's own deployment.",
    severity=Severity.HIGH,
    nsa="Authentication and authorization (C-0035)",
    check=forbid(
        (("",), ("namespaces",), ("update", "patch")),
        text="this rule can lower a namespace's Pod Security level by its labels",
    ),
)

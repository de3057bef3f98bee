"""RBAC-21: no role writes role bindings."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import WRITE, forbid

RULE: Final = Rule(
    control="RBAC-21",
    name="rbac-no-binding-write",
    title="No role writes role bindings",
    why="Bindings decide who holds which right.",
    fix="Leave bindings to the platform's own deployment.",
    severity=Severity.HIGH,
    nsa="Authentication and authorization (C-0035)",
    check=forbid(
        (
            ("rbac.authorization.k8s.io",),
            ("rolebindings", "clusterrolebindings"),
            WRITE,
        ),
        text="this rule changes who holds which right",
    ),
)

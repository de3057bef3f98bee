"""RBAC-06: no role may escalate or bind roles."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid

RULE: Final = Rule(
    control="RBAC-06",
    name="rbac-no-escalate-bind",
    title="No role may escalate or bind roles",
    why="escalate and bind switch off the check that nobody hands out rights they do not hold.",
    fix="Remove escalate and bind; give the rights themselves instead.",
    severity=Severity.CRITICAL,
    cis="5.1.8",
    check=forbid(
        (("rbac.authorization.k8s.io",), ("roles", "clusterroles"), ("escalate", "bind")),
        text="escalate or bind lets the subject give itself any right",
    ),
)

"""RBAC-03: no role grants every api group."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid_wildcard

RULE: Final = Rule(
    control="RBAC-03",
    name="rbac-no-wildcard-api-groups",
    title="No role grants every API group",
    why="A wildcard covers the API group of every operator installed later.",
    fix="List the API groups the subject uses; the core group is an empty text.",
    severity=Severity.HIGH,
    cis="5.1.3",
    check=forbid_wildcard("apiGroups", "a wildcard grants every API group"),
)

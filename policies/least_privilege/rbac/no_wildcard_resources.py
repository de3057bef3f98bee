"""RBAC-02: no role grants every resource."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid_wildcard

RULE: Final = Rule(
    control="RBAC-02",
    name="rbac-no-wildcard-resources",
    title="No role grants every resource",
    why="A wildcard covers secrets, exec and every resource installed later.",
    fix="List the resources and subresources the subject uses.",
    severity=Severity.CRITICAL,
    cis="5.1.3",
    check=forbid_wildcard("resources", "a wildcard grants resources that nobody listed"),
)

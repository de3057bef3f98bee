"""RBAC-01: no role grants every verb."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid_wildcard

RULE: Final = Rule(
    control="RBAC-01",
    name="rbac-no-wildcard-verbs",
    title="No role grants every verb",
    why="A wildcard also grants verbs that do not exist yet, and escalate, bind and impersonate.",
    fix="List the verbs the subject uses.",
    severity=Severity.CRITICAL,
    cis="5.1.3",
    check=forbid_wildcard("verbs", "a wildcard grants every verb"),
)

"""RBAC-04: no role grants non-resource urls by wildcard."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid_wildcard

RULE: Final = Rule(
    control="RBAC-04",
    name="rbac-no-wildcard-urls",
    title="No role grants non-resource URLs by wildcard",
    why="A wildcard opens debug, log and metrics endpoints of the API server.",
    fix="List the URLs the subject uses.",
    severity=Severity.HIGH,
    cis="5.1.3",
    check=forbid_wildcard("nonResourceURLs", "a wildcard grants URLs that nobody listed"),
)

"""RBAC-05: no role reads secrets except by name."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import READ, forbid

RULE: Final = Rule(
    control="RBAC-05",
    name="rbac-no-secret-read",
    title="No role reads Secrets except by name",
    why="get, list and watch all return the values; one list call empties a namespace of its keys.",
    fix="Name the Secrets in resourceNames, or mount them instead of reading them through the API.",
    severity=Severity.CRITICAL,
    cis="5.1.2",
    check=forbid(
        (("",), ("secrets",), READ),
        text="this rule reads every Secret in its reach",
        named_passes=True,
    ),
)

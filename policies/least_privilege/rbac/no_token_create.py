"""RBAC-10: no role makes service account tokens."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid

RULE: Final = Rule(
    control="RBAC-10",
    name="rbac-no-token-create",
    title="No role makes service account tokens",
    why="A token made for another account carries that account's rights.",
    fix="Remove create on serviceaccounts/token; pods get projected tokens from the kubelet.",
    severity=Severity.CRITICAL,
    cis="5.1.13",
    check=forbid(
        (("",), ("serviceaccounts/token",), ("create",)),
        text="this rule makes tokens of other accounts",
    ),
)

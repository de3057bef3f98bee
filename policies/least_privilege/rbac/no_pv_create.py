"""RBAC-19: no role creates persistent volumes."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid

RULE: Final = Rule(
    control="RBAC-19",
    name="rbac-no-pv-create",
    title="No role creates persistent volumes",
    why="A hostPath volume made by hand opens the node's file system.",
    fix="Use claims; volumes come from the storage class.",
    severity=Severity.HIGH,
    cis="5.1.9",
    check=forbid(
        (("",), ("persistentvolumes",), ("create",)),
        text="this rule creates volumes, which can mount any path of a node",
    ),
)

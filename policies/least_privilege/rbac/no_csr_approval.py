"""RBAC-11: no role approves certificate requests."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid

RULE: Final = Rule(
    control="RBAC-11",
    name="rbac-no-csr-approval",
    title="No role approves certificate requests",
    why="Whoever approves a request can have a client certificate of any user or group signed.",
    fix="Leave approval to the cluster's own controller.",
    severity=Severity.CRITICAL,
    cis="5.1.11",
    check=forbid(
        (("certificates.k8s.io",), ("certificatesigningrequests/approval",), ("update", "patch")),
        (("certificates.k8s.io",), ("signers",), ("approve",)),
        text="this rule approves certificates, which can name any user or group",
    ),
)

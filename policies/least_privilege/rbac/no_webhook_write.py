"""RBAC-12: no role changes admission webhooks."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import WRITE, forbid

RULE: Final = Rule(
    control="RBAC-12",
    name="rbac-no-webhook-write",
    title="No role changes admission webhooks",
    why="A webhook sees every object on its way in, Secrets included, and can change it.",
    fix="Leave webhook configurations to the platform's own deployment.",
    severity=Severity.CRITICAL,
    cis="5.1.12",
    check=forbid(
        (
            ("admissionregistration.k8s.io",),
            ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"),
            WRITE,
        ),
        text="this rule changes admission webhooks, which see and alter every object",
    ),
)

"""AUD-09: the audit log is kept long enough."""

from typing import Final

from pulumi_policy import Severity

from policies.audit.sizes import at_least
from policies.engine.rule import Rule

RULE: Final = Rule(
    control="AUD-09",
    name="audit-log-age",
    title="The audit log is kept at hand for at least thirty days",
    why="Intrusions are found weeks later; what was rotated away by then is gone.",
    fix="Set --audit-log-maxage to the days of minAuditDays or more.",
    severity=Severity.MEDIUM,
    cis="1.2.17",
    uses=("min_audit_days",),
    check=at_least(lambda settings: {"audit-log-maxage": settings.min_audit_days}),
)

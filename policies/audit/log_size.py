"""AUD-10: the audit log is rotated by sizes that keep it."""

from typing import Final

from pulumi_policy import Severity

from policies.audit.sizes import at_least
from policies.engine.rule import Rule

RULE: Final = Rule(
    control="AUD-10",
    name="audit-log-size",
    title="At least ten audit logs of a hundred megabytes are kept",
    why="At load the size limit, not the age, decides what survives.",
    fix="Set --audit-log-maxbackup to 10 or more and --audit-log-maxsize to 100 or more.",
    severity=Severity.MEDIUM,
    cis="1.2.18, 1.2.19",
    check=at_least(lambda _: {"audit-log-maxbackup": 10, "audit-log-maxsize": 100}),
)

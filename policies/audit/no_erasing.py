"""AUD-13: nobody may erase the trail."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.least_privilege.rbac.grants import forbid

_DELETE: Final = ("delete", "deletecollection")

RULE: Final = Rule(
    control="AUD-13",
    name="audit-no-erasing",
    title="No role deletes events or logs",
    why="Whoever deletes events removes the traces of what was done.",
    fix="Remove delete and deletecollection on events and pods/log.",
    severity=Severity.MEDIUM,
    nsa="Audit logging (C-0031)",
    check=forbid(
        (("", "events.k8s.io"), ("events",), _DELETE),
        (("",), ("pods/log",), _DELETE),
        text="this rule deletes events or logs",
    ),
)

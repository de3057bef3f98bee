"""KEY-04: no annotation or label holds a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-04",
    name="no-key-in-metadata",
    title="No annotation or label holds a key",
    why="Metadata is copied into caches, dashboards and logs.",
    fix="Keep the value in the managed store and mount it as a file from the Secret that delivery makes.",
    severity=Severity.HIGH,
    nsa="Secrets (C-0012)",
    check=forbid_in(Place.METADATA),
)

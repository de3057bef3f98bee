"""KEY-02: no ConfigMap holds a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-02",
    name="no-key-in-config-map",
    title="No ConfigMap holds a key",
    why="ConfigMaps are neither encrypted nor guarded like Secrets, and their history stays in state.",
    fix="Keep the value in the managed store and mount it as a file from the Secret that delivery makes.",
    severity=Severity.CRITICAL,
    nsa="Secrets (C-0012)",
    check=forbid_in(Place.CONFIG_MAP),
)

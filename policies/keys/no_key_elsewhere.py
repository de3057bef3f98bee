"""KEY-09: no custom resource and no chart value holds a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-09",
    name="no-key-elsewhere",
    title="No custom resource and no chart value holds a key",
    why="Custom resources and chart values are stored like any object, without the guards of a Secret.",
    fix="Keep the value in the managed store and mount it as a file from the Secret that delivery makes.",
    severity=Severity.CRITICAL,
    nsa="Secrets (C-0012)",
    check=forbid_in(Place.OTHER),
)

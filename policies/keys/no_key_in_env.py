"""KEY-01: no environment value is a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-01",
    name="no-key-in-env",
    title="No environment value is a key",
    why="The value is readable by everyone who may read the workload, and stays in state and history.",
    fix="Keep the value in the managed store and mount it as a file from the Secret that delivery makes.",
    severity=Severity.CRITICAL,
    cis="5.4.1",
    check=forbid_in(Place.ENV),
)

"""KEY-03: no command line holds a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-03",
    name="no-key-in-command",
    title="No command line holds a key",
    why="Command lines show in the process list, in events and in every listing of pods.",
    fix="Keep the value in the managed store and mount it as a file from the Secret that delivery makes.",
    severity=Severity.CRITICAL,
    nsa="Secrets (C-0012)",
    check=forbid_in(Place.COMMAND),
)

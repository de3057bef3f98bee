"""KEY-06: no probe or hook holds a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-06",
    name="no-key-in-probe",
    title="No probe or hook holds a key",
    why="Probe headers and hook commands are part of the pod and readable with it.",
    fix="Give the health endpoint no authentication of its own, or read the key from a mounted file.",
    severity=Severity.HIGH,
    nsa="Secrets (C-0012)",
    check=forbid_in(Place.PROBE),
)

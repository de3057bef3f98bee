"""KEY-08: no image reference holds a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-08",
    name="no-key-in-image",
    title="No image reference holds a key",
    why="Image references show in events, node status and every listing of pods.",
    fix="Use an image pull secret that delivery makes.",
    severity=Severity.HIGH,
    nsa="Secrets (C-0012)",
    check=forbid_in(Place.IMAGE),
)

"""KEY-07: no volume or storage class holds a key."""

from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule
from policies.keys.places import Place, forbid_in

RULE: Final = Rule(
    control="KEY-07",
    name="no-key-in-volume",
    title="No volume or storage class holds a key",
    why="Volume attributes are readable by everyone who may list volumes.",
    fix="Name a Secret of the managed store in the driver's secret reference.",
    severity=Severity.CRITICAL,
    nsa="Secrets (C-0012)",
    check=forbid_in(Place.VOLUME),
)

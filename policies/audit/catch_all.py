"""AUD-04: a rule for everything else ends the list."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.trail import LEVELS, audit_policies
from policies.engine.rule import Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, join
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find policies that do not end with a rule for everything at Metadata or above."""
    del settings
    for policy in audit_policies(resource):
        unknown = list(policy.unknown())
        yield from unknown
        ending = next((rule for rule in policy.rules if rule.unrestricted), None)
        if ending is None:
            if policy.rules and not unknown:
                text = "the list ends without a rule that matches everything, so new API groups are not recorded"
                yield policy.finding(policy.rules[-1].path, text)
        elif ending.level is UNKNOWN:
            yield Unjudged(f"{policy.obj}: {ending.path}.level")
        elif ending.level not in LEVELS[1:]:
            yield policy.finding(join(ending.path, "level"), "everything that is not listed above is dropped")


RULE: Final = Rule(
    control="AUD-04",
    name="audit-catch-all",
    title="The audit policy ends with a rule for everything else",
    why="Groups listed by hand miss every API installed later.",
    fix="End the list with a rule that has only `level: Metadata`.",
    severity=Severity.HIGH,
    cis="3.2.2",
    check=check,
)

"""AUD-06: only the stage RequestReceived may be left out."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.trail import audit_policies
from policies.engine.rule import Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, items, join
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find stages left out for the whole policy or for a rule."""
    del settings
    for policy in audit_policies(resource):
        yield from policy.unknown()
        holders = [(policy.path, policy.body)]
        holders += [(rule.path, rule.body) for rule in policy.rules if rule.level != "None"]
        for where, body in holders:
            for path, stage in items(body.get("omitStages"), join(where, "omitStages")):
                if stage is UNKNOWN:
                    yield Unjudged(f"{policy.obj}: {path}")
                elif stage != "RequestReceived":
                    yield policy.finding(path, f"without {stage} the outcome of requests is not recorded")


RULE: Final = Rule(
    control="AUD-06",
    name="audit-omit-stages",
    title="Only the stage RequestReceived may be left out of the audit log",
    why="ResponseComplete and Panic say what happened; without them only attempts are known.",
    fix="Set omitStages to [RequestReceived] or leave it out.",
    severity=Severity.CRITICAL,
    check=check,
)

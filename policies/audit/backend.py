"""AUD-08: recorded events go somewhere."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.flags import server_flags
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings

_FLAGS: Final = ("audit-log-path", "audit-webhook-config-file")


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find API servers that have neither a log file nor a webhook."""
    del settings
    for flags in server_flags(resource):
        if flags.partial and not any(name in flags.values for name in _FLAGS):
            continue
        values = [flags.value(name) for name in _FLAGS]
        if any(value is not UNKNOWN and value for value in values):
            continue
        if any(value is UNKNOWN for value in values):
            yield Unjudged(f"{flags.obj}: {flags.path}")
        else:
            yield Finding(flags.path, "neither --audit-log-path nor --audit-webhook-config-file is set", flags.obj)


RULE: Final = Rule(
    control="AUD-08",
    name="audit-backend",
    title="The API server writes its audit events somewhere",
    why="A policy without a backend records nothing.",
    fix="Set --audit-log-path on a mounted volume, or --audit-webhook-config-file.",
    severity=Severity.HIGH,
    cis="1.2.16",
    check=check,
)

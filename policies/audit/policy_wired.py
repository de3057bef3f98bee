"""AUD-01: the API server has an audit policy."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.flags import server_flags
from policies.audit.managed import managed
from policies.audit.trail import audit_policies
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, join
from policies.settings import Settings

_FLAG: Final = "audit-policy-file"


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find API servers without an audit policy and policies without a rule."""
    del settings
    for flags in server_flags(resource):
        value = flags.value(_FLAG)
        if flags.partial and _FLAG not in flags.values:
            continue
        if value is UNKNOWN:
            yield Unjudged(f"{flags.obj}: {flags.where(_FLAG)}")
        elif not value:
            yield Finding(flags.where(_FLAG), f"the API server runs without --{_FLAG} and records nothing", flags.obj)
    yield from managed(resource)
    for policy in audit_policies(resource):
        rules = policy.body.get("rules")
        if rules is UNKNOWN:
            yield Unjudged(f"{policy.obj}: {join(policy.path, 'rules')}")
        elif not rules:
            yield policy.finding(join(policy.path, "rules"), "a policy without rules is refused by the API server")


RULE: Final = Rule(
    control="AUD-01",
    name="audit-policy-wired",
    title="The API server has an audit policy",
    why="Without --audit-policy-file no request is recorded at all.",
    fix="Set --audit-policy-file to a mounted policy that has rules.",
    severity=Severity.CRITICAL,
    cis="3.2.1",
    check=check,
)

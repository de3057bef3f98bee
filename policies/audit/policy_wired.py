"""AUD-01: the API server has an audit policy."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.flags import server_flags
from policies.audit.trail import audit_policies
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, join
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
    yield from _managed(resource)
    for policy in audit_policies(resource):
        rules = policy.body.get("rules")
        if rules is UNKNOWN:
            yield Unjudged(f"{policy.obj}: {join(policy.path, 'rules')}")
        elif not rules:
            yield policy.finding(join(policy.path, "rules"), "a policy without rules is refused by the API server")


def _managed(resource: Resource) -> Iterator[Verdict]:
    """Find managed control planes whose audit log is not switched on."""
    if resource.token.startswith("aws:eks/cluster:"):
        holders: list[tuple[str, Plain, Obj | None]] = [("", resource.body, None)]
    else:
        holders = [
            (join(obj.path, "spec.forProvider"), child(obj.body, "spec", "forProvider"), obj)
            for obj in resource.objects
            if obj.kind == "Cluster" and obj.group.startswith("eks.aws")
        ]
    for path, body, obj in holders:
        types = child(body, "enabledClusterLogTypes")
        listed = types if isinstance(types, list) else [types]
        where = join(path, "enabledClusterLogTypes")
        if "audit" in [kind for kind in listed if kind is not UNKNOWN]:
            continue
        if any(kind is UNKNOWN for kind in listed):
            yield Unjudged(where)
        else:
            yield Finding(where, "the managed control plane delivers no audit log", obj)


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

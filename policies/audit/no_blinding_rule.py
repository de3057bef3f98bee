"""AUD-03: no rule switches recording off for everybody."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.trail import WRITE, AuditRule, audit_policies
from policies.engine.rule import Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings

_GROUPS: Final = frozenset({"", "apps", "batch", "rbac.authorization.k8s.io", "admissionregistration.k8s.io"})


def _blinds(rule: AuditRule) -> bool:
    """Whether a None rule drops everything, or every change, whoever asks."""
    if rule.unrestricted:
        return True
    if _whole_group(rule):
        return True
    others = ("users", "userGroups", "resources", "namespaces", "nonResourceURLs")
    return not any(rule.listed(key) for key in others) and bool(WRITE.intersection(map(str, rule.listed("verbs"))))


def _whole_group(rule: AuditRule) -> bool:
    """Whether every change in one of the groups that run programs or give rights is dropped."""
    if rule.by_principal or rule.listed("namespaces"):
        return False
    verbs = set(map(str, rule.listed("verbs")))
    if verbs and not verbs & WRITE:
        return False
    for member in rule.listed("resources"):
        if isinstance(member, dict) and member.get("group", "") is not UNKNOWN:
            names = member.get("resources") or [] if member.get("resources") is not UNKNOWN else UNKNOWN
            if (member.get("group") or "") in _GROUPS and names is not UNKNOWN and (not names or "*" in names):
                return True
    return False


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find None rules without restriction ahead of others."""
    del settings
    for policy in audit_policies(resource):
        yield from policy.unknown()
        rules = policy.rules
        for index, rule in enumerate(rules):
            last = index == len(rules) - 1 and index > 0
            if rule.level is UNKNOWN and not last:
                yield Unjudged(f"{policy.obj}: {rule.path}.level")
            elif rule.level == "None" and _blinds(rule) and not last:
                yield policy.finding(rule.path, "this drops requests of everybody, and no later rule is reached")
            if rule.unrestricted:
                break


RULE: Final = Rule(
    control="AUD-03",
    name="audit-no-blinding-rule",
    title="No audit rule drops the requests of everybody",
    why="The first matching rule decides; a None rule without restriction ends the trail there.",
    fix="Remove the rule, or restrict it to the read-only noise of a named system component.",
    severity=Severity.CRITICAL,
    cis="3.2.2",
    check=check,
)

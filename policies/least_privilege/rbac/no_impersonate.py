"""RBAC-07: no role acts as somebody else."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac.grants import Grant, any_of, grants, unknown_rules
from policies.model.resource import Resource
from policies.settings import Settings

_GROUPS: Final = frozenset({"", "authentication.k8s.io", "*"})
_SUBJECTS: Final = frozenset({"users", "groups", "serviceaccounts", "uids", "userextras", "*", "*/*"})


def _impersonates(grant: Grant) -> bool | None:
    answers = (
        any_of(grant.groups, _GROUPS.__contains__),
        any_of(grant.resources, lambda name: name in _SUBJECTS or name.startswith("userextras/")),
        # Since 1.35 there are narrower verbs such as impersonate:user-info.
        any_of(grant.verbs, lambda verb: verb in ("*", "impersonate") or verb.startswith("impersonate:")),
    )
    if False in answers:
        return False
    return None if None in answers else True


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find rules that impersonate users, groups, accounts, uids or extras."""
    del settings
    yield from unknown_rules(resource)
    for grant in grants(resource):
        answer = _impersonates(grant)
        if answer:
            yield Finding(grant.path, "impersonate lets the subject act as anybody", grant.obj)
        elif answer is None:
            yield Unjudged(f"{grant.obj}: {grant.path}")


RULE: Final = Rule(
    control="RBAC-07",
    name="rbac-no-impersonate",
    title="No role acts as somebody else",
    why="Impersonation takes any right of any user, system:masters included.",
    fix="Remove impersonate; give the rights themselves instead.",
    severity=Severity.CRITICAL,
    cis="5.1.8",
    check=check,
)

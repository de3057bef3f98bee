"""AUD-02: Secrets, ConfigMaps and TokenReviews are recorded at Metadata, no more and no less."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.trail import ALL_VERBS, READ, AuditPolicy, AuditRule, Request, audit_policies, unrecorded
from policies.engine.rule import Rule, Verdict
from policies.model.resource import Resource
from policies.settings import Settings

_SENSITIVE: Final = (
    Request("", "secrets", ALL_VERBS),
    Request("", "configmaps", ALL_VERBS),
    Request("authentication.k8s.io", "tokenreviews", frozenset({"create"}), cluster_scoped=True),
)
_BODILESS: Final = READ | {"delete", "deletecollection"}
# The answer to a token request is a live token; the request itself holds none.
_TOKEN: Final = Request("", "serviceaccounts/token", frozenset({"create"}))


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find rules that drop sensitive requests or record their bodies."""
    del settings
    for policy in audit_policies(resource):
        yield from policy.unknown()
        for request in _SENSITIVE:
            yield from unrecorded(policy, request)
            yield from _bodies(policy, request, ("Request", "RequestResponse"))
        yield from _bodies(policy, _TOKEN, ("RequestResponse",))


def _bodies(policy: AuditPolicy, request: Request, levels: tuple[str, ...]) -> Iterator[Verdict]:
    for rule in policy.deciding(request):
        if rule.level in levels and not _bodiless(rule):
            yield policy.finding(f"{rule.path}.level", f"{rule.level} writes the bodies of {request} into the log")


def _bodiless(rule: AuditRule) -> bool:
    """Whether a component's requests at Request carry no object: reads and deletions send none."""
    verbs = {str(verb) for verb in rule.listed("verbs")}
    return rule.level == "Request" and rule.by_principal and bool(verbs) and verbs <= _BODILESS


RULE: Final = Rule(
    control="AUD-02",
    name="audit-sensitive-at-metadata",
    title="Secrets, ConfigMaps and TokenReviews are recorded at Metadata exactly",
    why="Less hides who read a key; more writes the key into the log.",
    fix="Put a Metadata rule for secrets, configmaps, serviceaccounts/token and tokenreviews before broader rules.",
    severity=Severity.HIGH,
    cis="3.2.2",
    check=check,
)

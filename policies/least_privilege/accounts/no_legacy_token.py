"""SA-03: no token Secret that never expires."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, join
from policies.settings import Settings

_TYPE: Final = "kubernetes.io/service-account-token"
_ANNOTATION: Final = "kubernetes.io/service-account.name"


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find Secrets that the token controller fills, by type or annotation."""
    del settings
    for obj in resource.of("Secret"):
        if obj.group != "":
            continue
        kind, account = obj.body.get("type"), child(obj.metadata, "annotations", _ANNOTATION)
        if kind == _TYPE:
            yield Finding(join(obj.path, "type"), "a token in a Secret never expires", obj)
        elif account is not None and account is not UNKNOWN:
            yield Finding(join(obj.path, "metadata.annotations"), "a token in a Secret never expires", obj)
        elif kind is UNKNOWN or account is UNKNOWN:
            yield Unjudged(f"{obj}: type")


RULE: Final = Rule(
    control="SA-03",
    name="account-no-legacy-token",
    title="No Secret holds a service account token",
    why="Such a token works until the Secret is deleted, from anywhere.",
    fix="Use a projected token with an audience and an expiry.",
    severity=Severity.HIGH,
    cis="5.1.6",
    kinds=frozenset({"Secret"}),
    check=check,
)

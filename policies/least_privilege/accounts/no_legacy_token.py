"""SA-03: no token Secret that never expires."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj, is_object
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, join
from policies.settings import Settings

_TYPE: Final = "kubernetes.io/service-account-token"
_ANNOTATION: Final = "kubernetes.io/service-account.name"
_BUILTIN: Final = frozenset({"", "apps", "batch", "extensions", "rbac.authorization.k8s.io"})


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find Secrets that the token controller fills, by type or annotation, and templates of such Secrets."""
    del settings
    for obj in resource.objects:
        if obj.is_a("Secret", ""):
            yield from _judge(obj, obj.path, obj.body)
        elif obj.group not in _BUILTIN and (_TYPE in resource.outline.texts or _ANNOTATION in resource.outline.keys):
            yield from _templates(obj, obj.body, obj.path)


def _templates(obj: Obj, value: Plain, path: str) -> Iterator[Verdict]:
    """Secrets that an operator makes (External Secrets, Sealed Secrets and their like)."""
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield from _templates(obj, member, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, dict) and is_object(member):
                continue
            if key == "template" and isinstance(member, dict):
                yield from _judge(obj, join(path, key), member)
            yield from _templates(obj, member, join(path, key))


def _judge(obj: Obj, path: str, secret: dict[str, Plain]) -> Iterator[Verdict]:
    kind, account = secret.get("type"), child(secret, "metadata", "annotations", _ANNOTATION)
    if kind is not UNKNOWN and kind == _TYPE:
        yield Finding(join(path, "type"), "a token in a Secret never expires", obj)
    elif account is not None and account is not UNKNOWN:
        yield Finding(join(path, "metadata.annotations"), "a token in a Secret never expires", obj)
    elif kind is UNKNOWN or account is UNKNOWN:
        yield Unjudged(f"{obj}: {join(path, 'type')}")


RULE: Final = Rule(
    control="SA-03",
    name="account-no-legacy-token",
    title="No Secret holds a service account token",
    why="Such a token works until the Secret is deleted, from anywhere.",
    fix="Use a projected token with an audience and an expiry.",
    severity=Severity.HIGH,
    cis="5.1.6",
    check=check,
)

"""At which level an audit policy records a request, decided as the API server does: by the first rule that matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AuditedRequest:
    """A request as the audit policy sees it.

    `resource` may name a subresource ("pods/exec"); a request for a non-resource URL has `url` and no resource.
    """

    verb: str
    resource: str = ""
    group: str = ""
    user: str = "kubernetes-admin"
    user_groups: tuple[str, ...] = ("system:authenticated",)
    namespace: str = ""
    name: str = ""
    url: str = ""


def effective_level(policy: Mapping[str, Any], request: AuditedRequest) -> str:
    """ "None", "Metadata", "Request" or "RequestResponse"; a request that no rule matches is not recorded."""
    for rule in policy.get("rules", ()):
        if _matches(rule, request):
            return str(rule["level"])
    return "None"


def _matches(rule: Mapping[str, Any], request: AuditedRequest) -> bool:
    if rule.get("users") and request.user not in rule["users"]:
        return False
    if rule.get("userGroups") and not set(rule["userGroups"]) & set(request.user_groups):
        return False
    if rule.get("verbs") and request.verb not in rule["verbs"]:
        return False
    if rule.get("namespaces") or rule.get("resources"):
        return not request.url and _matches_resource(rule, request)
    if rule.get("nonResourceURLs"):
        return bool(request.url) and any(_matches_url(pattern, request.url) for pattern in rule["nonResourceURLs"])
    return True


def _matches_resource(rule: Mapping[str, Any], request: AuditedRequest) -> bool:
    if rule.get("namespaces") and request.namespace not in rule["namespaces"]:
        return False
    scopes: Sequence[Mapping[str, Any]] = rule.get("resources") or ()
    return not scopes or any(_in_scope(scope, request) for scope in scopes)


def _in_scope(scope: Mapping[str, Any], request: AuditedRequest) -> bool:
    if scope.get("group", "") != request.group:
        return False
    resources: Sequence[str] = scope.get("resources") or ()
    if not resources:
        return True
    names: Sequence[str] = scope.get("resourceNames") or ()
    kind, _, part = request.resource.partition("/")
    # "*" is every resource and subresource, "pods/*" every subresource of pods, "*/scale" that one of every resource.
    forms = {"*", request.resource} | ({f"{kind}/*", f"*/{part}"} if part else set())
    return bool(forms & set(resources)) and (not names or request.name in names)


def _matches_url(pattern: str, url: str) -> bool:
    return pattern in ("*", url) or (pattern.endswith("*") and url.startswith(pattern[:-1]))

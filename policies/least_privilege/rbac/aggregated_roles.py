"""RBAC-13: aggregated roles are judged as the union they become."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac import (
    no_binding_write,
    no_csr_approval,
    no_escalate_bind,
    no_impersonate,
    no_namespace_patch,
    no_node_proxy,
    no_pod_exec,
    no_pv_create,
    no_secret_read,
    no_token_create,
    no_webhook_write,
    no_wildcard_api_groups,
    no_wildcard_resources,
    no_wildcard_urls,
    no_wildcard_verbs,
)
from policies.least_privilege.rbac.grants import RBAC_GROUPS, READ, WRITE, allows, any_of, grants
from policies.model.objects import Obj
from policies.model.resource import Resource, Stack
from policies.model.selectors import is_empty, matches
from policies.model.values import UNKNOWN, child, items
from policies.settings import Settings

_LABEL: Final = "rbac.authorization.k8s.io/aggregate-to-"
_CHECKS: Final = tuple(
    module.RULE
    for module in (
        no_wildcard_verbs,
        no_wildcard_resources,
        no_wildcard_api_groups,
        no_wildcard_urls,
        no_secret_read,
        no_escalate_bind,
        no_impersonate,
        no_node_proxy,
        no_pod_exec,
        no_token_create,
        no_csr_approval,
        no_webhook_write,
        no_pv_create,
        no_namespace_patch,
        no_binding_write,
    )
)


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find forbidden rights in aggregated roles, and in roles added to view, edit and admin."""
    roles = [(r, o) for r, o in stack.objects if o.kind == "ClusterRole" and o.group in RBAC_GROUPS]
    for resource, obj in roles:
        yield from _parent(resource, obj, roles, settings)
        for target in ("view", "edit", "admin"):
            flag = obj.labels.get(_LABEL + target)
            if flag is UNKNOWN:
                yield Unjudged(f"{obj}: metadata.labels", resource)
            elif flag in ("true", True):
                yield from _added(resource, obj, target, settings)


def _parent(resource: Resource, obj: Obj, roles: list[tuple[Resource, Obj]], settings: Settings) -> Iterator[Verdict]:
    selectors = [s for _, s in items(child(obj.body, "aggregationRule", "clusterRoleSelectors"), "")]
    if any(selector is UNKNOWN for selector in selectors):
        yield Unjudged(f"{obj}: aggregationRule", resource)
    known = [selector for selector in selectors if isinstance(selector, dict)]
    if any(is_empty(selector) for selector in known):
        yield Finding("aggregationRule", "an empty selector adds every role of the cluster", obj, resource)
    rules = [
        rule
        for _, part in roles
        if part is not obj and any(matches(selector, part.labels) for selector in known)
        for _, rule in items(part.body.get("rules"), "")
    ]
    for title in _forbidden(rules, settings):
        yield Finding("aggregationRule", f"the roles it adds up break: {title}", obj, resource)


def _forbidden(rules: list[object], settings: Settings) -> list[str]:
    """Titles of the rules that a role with these rules would break."""
    body = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": rules}
    union = Resource("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "union", "", body)
    return [
        rule.title
        for rule in _CHECKS
        if rule.check is not None and any(isinstance(verdict, Finding) for verdict in rule.check(union, settings))
    ]


def _added(resource: Resource, obj: Obj, target: str, settings: Settings) -> Iterator[Verdict]:
    """Everybody who holds view, edit or admin gets these rights, so names excuse nothing here."""
    for title in _forbidden([rule for _, rule in items(obj.body.get("rules"), "")], settings):
        yield Finding("metadata.labels", f"every holder of {target} gets this: {title}", obj, resource)
    for grant in grants(resource):
        if grant.obj is not obj:
            continue
        if grant.named and allows(grant, ("",), ("secrets",), READ):
            yield Finding(grant.path, f"every holder of {target} reads these Secrets", obj, resource)
        if target == "view" and any_of(grant.verbs, lambda verb: verb in WRITE):
            yield Finding(grant.path, "holders of view get to change things", obj, resource)


RULE: Final = Rule(
    control="RBAC-13",
    name="rbac-aggregated-roles",
    title="Aggregated roles are judged as the union they become",
    why="The parent shows no rules, and a label adds rights to roles that are bound already.",
    fix="Remove the right from the role that is added, or remove its aggregation label.",
    severity=Severity.HIGH,
    cis="5.1.1, 5.1.3",
    stack_check=check,
)

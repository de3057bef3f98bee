"""RBAC-14: nothing is bound to cluster-admin, and no role is a copy of it."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac.grants import bindings, grants
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, join
from policies.settings import Settings


def _known(values: list[Plain]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find bindings to cluster-admin, cluster-wide or in one namespace, and roles that grant the same."""
    del settings
    for grant in grants(resource):
        if "*" in _known(grant.groups) and "*" in _known(grant.resources) and "*" in _known(grant.verbs):
            yield Finding(grant.path, "this role is cluster-admin under another name", grant.obj)
    for binding in bindings(resource):
        if binding.role_name is UNKNOWN:
            yield Unjudged(f"{binding.obj}: {join(binding.path, 'roleRef')}")
        elif binding.role_name == "cluster-admin" and binding.role_kind != "Role":
            text = "this binds cluster-admin, which may do everything"
            yield Finding(join(binding.path, "roleRef.name"), text, binding.obj)


RULE: Final = Rule(
    control="RBAC-14",
    name="rbac-no-cluster-admin",
    title="Nothing is bound to cluster-admin",
    why="cluster-admin may do everything; bound in one namespace it still owns every Secret and role there.",
    fix="Bind a role that lists what the subject does.",
    severity=Severity.CRITICAL,
    cis="5.1.1",
    check=check,
)

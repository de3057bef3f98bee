"""RBAC-14: nothing is bound to cluster-admin, and no role is a copy of it."""

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac.grants import RBAC_GROUPS, bindings, grants, holds_roles
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, join, leaves
from policies.settings import Settings

# Fields of rbac-manager, Capsule, Rancher and their like, with what stands for everything in them.
_FULL_RIGHTS: Final = {
    "clusterRole": "cluster-admin",
    "clusterRoleName": "cluster-admin",
    "clusterRoles": "cluster-admin",
    "clusterRoleNames": "cluster-admin",
    "roleTemplateName": "cluster-owner",
    "globalRoleName": "admin",
}
_FIELDS: Final = frozenset(_FULL_RIGHTS)
_INDEX: Final = re.compile(r"\[\d+\]$")


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
    if not _FIELDS.isdisjoint(resource.outline.keys):
        for obj in resource.objects:
            if holds_roles(obj) and obj.group not in RBAC_GROUPS:
                yield from _by_field(obj)


def _by_field(obj: Obj) -> Iterator[Verdict]:
    """Operators bind roles that a field of their own resources names, alone or in a list."""
    for path, _, value in leaves(obj.body, obj.path):
        field = _INDEX.sub("", path).rpartition(".")[2]
        if value is not UNKNOWN and value == _FULL_RIGHTS.get(field):
            yield Finding(path, "this has everything bound to a subject", obj)


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

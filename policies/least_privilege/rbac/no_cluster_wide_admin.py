"""RBAC-17: admin and edit are never held cluster-wide."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac.grants import bindings
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, join
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find cluster-wide bindings to admin or edit."""
    del settings
    for binding in bindings(resource):
        if not binding.cluster_wide:
            continue
        if binding.role_name is UNKNOWN:
            yield Unjudged(f"{binding.obj}: {join(binding.path, 'roleRef')}")
        elif binding.role_name in ("admin", "edit"):
            text = f"{binding.role_name} is held in every namespace, Secrets included"
            yield Finding(join(binding.path, "roleRef.name"), text, binding.obj)


RULE: Final = Rule(
    control="RBAC-17",
    name="rbac-no-cluster-wide-admin",
    title="admin and edit are never held cluster-wide",
    why="Both read and write Secrets and workloads in every namespace, the system's own included.",
    fix="Use a RoleBinding in the namespace that needs it.",
    severity=Severity.HIGH,
    cis="5.1.1",
    check=check,
)

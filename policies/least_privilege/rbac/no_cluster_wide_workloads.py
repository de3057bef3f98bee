"""RBAC-18: nobody makes workloads cluster-wide."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac.grants import Grant, allows, bindings, grants
from policies.model.resource import Stack
from policies.model.values import UNKNOWN
from policies.settings import Settings

_VERBS: Final = ("create", "update", "patch")
_TARGETS: Final = (
    (("",), ("pods", "replicationcontrollers", "podtemplates"), _VERBS),
    (("apps", "extensions"), ("deployments", "daemonsets", "statefulsets", "replicasets"), _VERBS),
    (("batch",), ("jobs", "cronjobs"), _VERBS),
)


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find ClusterRoles that make workloads, unless they are only bound inside namespaces."""
    del settings
    wide: set[str] = set()
    narrow: set[str] = set()
    for resource in stack.resources:
        for binding in bindings(resource):
            if binding.role_kind == "ClusterRole" and binding.role_name is not UNKNOWN:
                (wide if binding.cluster_wide else narrow).add(binding.role_name)
    for resource in stack.resources:
        for grant in grants(resource):
            if _cluster_wide(grant, wide, narrow):
                answer = _makes_workloads(grant)
                if answer:
                    yield Finding(grant.path, "this makes pods in every namespace", grant.obj, resource)
                elif answer is None:
                    yield Unjudged(f"{grant.obj}: {grant.path}", resource)


def _cluster_wide(grant: Grant, wide: set[str], narrow: set[str]) -> bool:
    if grant.obj.kind == "ClusterRole":
        return grant.obj.name in wide or grant.obj.name not in narrow
    # Operator bundles bind these rules with a ClusterRoleBinding.
    return "clusterPermissions" in grant.path


def _makes_workloads(grant: Grant) -> bool | None:
    answers = [allows(grant, *target) for target in _TARGETS]
    return True if True in answers else None if None in answers else False


RULE: Final = Rule(
    control="RBAC-18",
    name="rbac-no-cluster-wide-workloads",
    title="Nobody makes workloads in every namespace",
    why="Whoever makes a pod may mount every Secret of its namespace and run as every account there.",
    fix="Use a Role, or bind the ClusterRole with RoleBindings in the namespaces that need it.",
    severity=Severity.HIGH,
    cis="5.1.4",
    stack_check=check,
)

"""RBAC-14."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import binding, grant, listed, role, typed_list

USER = {"kind": "User", "name": "ann"}


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": name}


def account(name: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": "team-a"}


BAD = [
    binding("cluster-admin", kind="ClusterRoleBinding"),
    binding("cluster-admin"),
    binding("cluster-admin", group("ops")),
]


@pytest.mark.parametrize("manifest", BAD)
def test_the_binding_is_refused(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-14", manifest)


@pytest.mark.parametrize("wrap", [listed, typed_list])
def test_lists_are_looked_into(wrap: Any) -> None:
    assert fires("RBAC-14", wrap(BAD[0]))


@pytest.mark.parametrize(
    "manifest",
    [
        binding("view", kind="ClusterRoleBinding"),
        binding("cluster-admin-readonly", kind="ClusterRoleBinding"),
        binding("cluster-admin", role_kind="Role"),
    ],
)
def test_other_bindings_pass(manifest: dict[str, Any]) -> None:
    assert clean("RBAC-14", manifest)


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("RBAC-14", binding(UNKNOWN))
    assert outcome.unjudged
    assert not outcome.messages


def test_a_copy_of_cluster_admin_is_refused_and_a_lesser_role_is_not() -> None:
    everything = grant("*", "*", "*")
    assert fires("RBAC-14", role(grant(), everything, kind="ClusterRole"))
    assert clean("RBAC-14", role(grant("apps", "*", "*"), grant("*", "*", "get"), grant("*", "pods", "*")))


def operator(kind: str, api: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "o"}, **fields}


def rbac_manager(role_name: Any) -> dict[str, Any]:
    binding_of = {"name": "b", "subjects": [USER], "clusterRoleBindings": [{"clusterRole": role_name}]}
    return operator("RBACDefinition", "rbacmanager.reactiveops.io/v1beta1", rbacBindings=[binding_of])


def capsule(role_name: Any) -> dict[str, Any]:
    added = [{"clusterRoleName": role_name, "subjects": [USER]}]
    return operator("Tenant", "capsule.clastix.io/v1beta2", spec={"additionalRoleBindings": added})


def generated(role_name: Any) -> dict[str, Any]:
    body = {"roleRef": {"kind": "ClusterRole", "name": role_name}, "subjects": [USER]}
    rule = {"name": "g", "generate": {"kind": "RoleBinding", "name": "b", "data": body}}
    return operator("ClusterPolicy", "kyverno.io/v1", spec={"rules": [rule]})


@pytest.mark.parametrize("operated", [rbac_manager, capsule, generated])
def test_a_binding_that_an_operator_makes_is_refused(operated: Any) -> None:
    assert fires("RBAC-14", operated("cluster-admin"))
    assert clean("RBAC-14", operated("edit"))


@pytest.mark.parametrize(
    "manifest",
    [
        operator("Tenant", "t.example.com/v1", spec={"clusterRoles": ["view", "cluster-admin"]}),
        operator("ClusterRoleTemplateBinding", "management.cattle.io/v3", roleTemplateName="cluster-owner"),
        operator("GlobalRoleBinding", "management.cattle.io/v3", globalRoleName="admin"),
        operator("HelmRelease", "helm.toolkit.fluxcd.io/v2", spec={"values": {"clusterRole": "cluster-admin"}}),
    ],
)
def test_fields_that_name_a_role_count(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-14", manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        operator("ClusterPolicy", "kyverno.io/v1", spec={"rules": [{"exclude": {"clusterRoles": ["cluster-admin"]}}]}),
        operator("Tenant", "t.example.com/v1", spec={"clusterRole": "admin", "note": "cluster-admin"}),
        operator("Tenant", "t.example.com/v1", spec={"clusterRole": UNKNOWN}),
        operator("Pod", "v1", spec={"clusterRole": "cluster-admin"}),
    ],
)
def test_other_mentions_pass(manifest: dict[str, Any]) -> None:
    assert clean("RBAC-14", manifest)

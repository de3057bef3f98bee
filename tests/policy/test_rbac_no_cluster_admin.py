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

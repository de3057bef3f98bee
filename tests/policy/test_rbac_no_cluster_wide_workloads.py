"""RBAC-18."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import binding, grant, listed, role


def cluster_role(*rules: dict[str, Any]) -> dict[str, Any]:
    return role(*rules, kind="ClusterRole", name="maker")


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "pods", "create"),
        grant("apps", "deployments", "patch"),
        grant("batch", ["jobs", "cronjobs"], ["get", "create"]),
        grant("apps", "*", "*"),
        grant("", "replicationcontrollers", "update"),
    ],
)
def test_a_cluster_role_that_makes_workloads_is_refused(rule: dict[str, Any]) -> None:
    assert fires("RBAC-18", cluster_role(grant(), rule))
    assert fires("RBAC-18", cluster_role(rule), binding("maker", kind="ClusterRoleBinding"), binding("maker"))
    assert fires("RBAC-18", listed(cluster_role(rule)))


def test_bound_inside_namespaces_only_it_passes() -> None:
    assert clean("RBAC-18", cluster_role(grant("", "pods", "create")), binding("maker"))


@pytest.mark.parametrize(
    "manifest",
    [
        role(grant("", "pods", "create")),
        cluster_role(grant("", "pods", ["get", "list", "watch", "delete"])),
        cluster_role(grant("", "pods/eviction", "create")),
        cluster_role(grant("jobs.example.com", "jobs", "create")),
    ],
)
def test_other_rights_pass(manifest: dict[str, Any]) -> None:
    assert clean("RBAC-18", manifest)


def test_an_unknown_verb_is_left_to_the_update() -> None:
    assert judge("RBAC-18", cluster_role(grant("", "pods", [UNKNOWN]))).unjudged


@pytest.mark.parametrize(("place", "verdict"), [("clusterPermissions", fires), ("permissions", clean)])
def test_rights_of_an_operator_bundle_are_judged_by_their_reach(place: str, verdict: Any) -> None:
    granted = [{"serviceAccountName": "op", "rules": [grant("apps", "deployments", "create")]}]
    bundle = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "op"},
        "spec": {"install": {"strategy": "deployment", "spec": {place: granted}}},
    }
    assert verdict("RBAC-18", bundle)

"""RBAC-02."""

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

GOOD = grant("apps", "deployments", "get")
BAD = grant("apps", "*", "get")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_a_wildcard_is_refused(kind: str) -> None:
    assert judge("RBAC-02", role(BAD, kind=kind)).paths == ["rules[0].resources[0]"]


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(role(GOOD, BAD), id="in the second rule only"),
        pytest.param(role(grant("", ["pods", "pods/*"], "get")), id="beside a harmless item"),
        pytest.param(listed(role(GOOD), role(BAD)), id="inside a List"),
        pytest.param(typed_list(role(BAD)), id="inside a RoleList without kinds"),
        pytest.param(
            {
                "apiVersion": "operators.coreos.com/v1alpha1",
                "kind": "ClusterServiceVersion",
                "metadata": {"name": "operator"},
                "spec": {"install": {"spec": {"clusterPermissions": [{"rules": [GOOD, BAD]}]}}},
            },
            id="inside a custom resource",
        ),
    ],
)
def test_a_hidden_wildcard_is_found(manifest: dict[str, object]) -> None:
    assert fires("RBAC-02", manifest)


@pytest.mark.parametrize("token", ["kubernetes:rbac.authorization.k8s.io/v1beta1:ClusterRolePatch"])
def test_a_patch_and_an_old_group_are_judged_alike(token: str) -> None:
    assert fires("RBAC-02", {"rules": [BAD]}, token=token)


@pytest.mark.parametrize(
    "manifest",
    [
        role(GOOD),
        role(kind="ClusterRole"),
        role(grant("apps", ["deployments", "deployments/scale"], "get")),
    ],
)
def test_listed_items_pass(manifest: dict[str, object]) -> None:
    assert clean("RBAC-02", manifest)


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    unknown = grant("apps", [UNKNOWN], "get")
    outcome = judge("RBAC-02", role(unknown, BAD))
    assert outcome.paths == ["rules[1].resources[0]"]
    assert outcome.unjudged

"""RBAC-06."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("rbac.authorization.k8s.io", "clusterroles", "escalate")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-06", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("rbac.authorization.k8s.io", "roles", "bind"),
        grant("rbac.authorization.k8s.io", ["rolebindings", "clusterroles"], ["get", "bind"]),
        grant("*", "*", "*"),
        grant("rbac.authorization.k8s.io", "clusterroles", "bind", resourceNames=["view"]),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-06", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-06", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("rbac.authorization.k8s.io", "rolebindings", "bind"),
        grant("servicebinding.example.com", "roles", "bind"),
        grant("rbac.authorization.k8s.io", "roles", ["get", "list"]),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-06", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-06", role(grant("rbac.authorization.k8s.io", [UNKNOWN], "bind"), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged

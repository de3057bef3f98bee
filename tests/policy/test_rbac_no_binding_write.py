"""RBAC-21."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("rbac.authorization.k8s.io", "rolebindings", "create")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-21", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("rbac.authorization.k8s.io", "clusterrolebindings", "patch"),
        grant("rbac.authorization.k8s.io", ["roles", "rolebindings"], "*"),
        grant("*", "*", "*"),
        grant("rbac.authorization.k8s.io", "rolebindings", "deletecollection"),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-21", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-21", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("rbac.authorization.k8s.io", "rolebindings", ["get", "list", "watch"]),
        grant("example.com", "rolebindings", "create"),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-21", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-21", role(grant("rbac.authorization.k8s.io", "rolebindings", [UNKNOWN]), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged

"""RBAC-07."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("", "users", "impersonate")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-07", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("", ["serviceaccounts"], ["get", "impersonate"]),
        grant("authentication.k8s.io", "uids", "impersonate"),
        grant("authentication.k8s.io", "userextras/scopes", "impersonate"),
        grant("*", "*", "*"),
        grant("authentication.k8s.io", "users", "impersonate:user-info"),
        grant("", "groups", "impersonate", resourceNames=["developers"]),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-07", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-07", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "serviceaccounts", ["get", "create"]),
        grant("example.com", "users", "impersonate"),
        grant("", "pods", "impersonate"),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-07", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-07", role(grant("", "users", [UNKNOWN]), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged

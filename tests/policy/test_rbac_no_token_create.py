"""RBAC-10."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("", "serviceaccounts/token", "create")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-10", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "serviceaccounts/*", "create"),
        grant("*", "serviceaccounts/token", "*"),
        grant("", "*/token", "create"),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-10", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-10", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "serviceaccounts", "create"),
        grant("", "serviceaccounts/token", "get"),
        grant("authentication.k8s.io", "tokenreviews", "create"),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-10", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-10", role(grant([UNKNOWN], "serviceaccounts/token", "create"), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged

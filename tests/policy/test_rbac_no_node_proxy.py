"""RBAC-08."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("", "nodes/proxy", "get")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-08", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "nodes/*", "get"),
        grant("", ["nodes", "nodes/proxy"], "create"),
        grant("", "*", "get"),
        grant("", "*/proxy", "get"),
        grant("", "nodes/proxy", "*"),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-08", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-08", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("", ["nodes", "nodes/metrics", "nodes/stats"], "get"),
        grant("metrics.k8s.io", "nodes", "get"),
        grant("proxy.example.com", "nodes/proxy", "get"),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-08", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-08", role(grant("", [UNKNOWN], "get"), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged

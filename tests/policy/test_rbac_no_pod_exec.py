"""RBAC-09."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("", "pods/exec", "create")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-09", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "pods/exec", "get"),
        grant("", ["pods/log", "pods/attach"], "create"),
        grant("", "pods/portforward", "*"),
        grant("", "pods/proxy", "get"),
        grant("", "pods/ephemeralcontainers", "patch"),
        grant("", "pods/*", "get"),
        grant("", "*/exec", "create"),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-09", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-09", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("", ["pods", "pods/log", "pods/status"], "get"),
        grant("", "pods/ephemeralcontainers", "get"),
        grant("exec.example.com", "pods/exec", "create"),
        grant("", "pods/eviction", "create"),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-09", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-09", role(grant("", "pods/exec", [UNKNOWN]), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged


@pytest.mark.parametrize("verb", ["get", "create", "delete", "*"])
def test_the_proxy_of_services_leads_into_pods_too(verb: str) -> None:
    assert fires("RBAC-09", role(grant("", "services/proxy", verb)))
    assert clean("RBAC-09", role(grant("", ["services", "services/status"], "get")))

"""RBAC-13."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, role

LABEL = "rbac.authorization.k8s.io/aggregate-to-"


def part(*rules: dict[str, Any], **labels: Any) -> dict[str, Any]:
    manifest = role(*rules, kind="ClusterRole", name="part")
    return {**manifest, "metadata": {"name": "part", "labels": labels}}


def parent(selector: Any) -> dict[str, Any]:
    manifest = role(kind="ClusterRole", name="parent")
    return {**manifest, "aggregationRule": {"clusterRoleSelectors": [selector]}}


SECRETS = grant("", "secrets", "get")


def test_a_parent_without_rules_is_judged_by_its_parts() -> None:
    program = [parent({"matchLabels": {"add": "yes"}}), part(SECRETS, add="yes")]
    outcome = judge("RBAC-13", *program)
    assert outcome.paths == ["aggregationRule"]
    assert "ClusterRole parent" in outcome.messages[0]


def test_parts_that_are_not_selected_do_not_count() -> None:
    assert clean("RBAC-13", parent({"matchLabels": {"add": "yes"}}), part(SECRETS, add="no"))
    assert clean("RBAC-13", parent({"matchLabels": {"add": "yes"}}), part(grant(), add="yes"))


def test_an_empty_selector_is_refused() -> None:
    assert fires("RBAC-13", parent({}))


@pytest.mark.parametrize("target", ["view", "edit", "admin"])
@pytest.mark.parametrize(
    "rule", [SECRETS, grant("", "pods/exec", "create"), grant("*", "*", "*"), {**SECRETS, "resourceNames": ["a"]}]
)
def test_what_is_added_to_a_common_role_is_judged_strictly(target: str, rule: dict[str, Any]) -> None:
    assert fires("RBAC-13", part(grant(), rule, **{LABEL + target: "true"}))


def test_nothing_that_writes_is_added_to_view() -> None:
    widgets = grant("example.com", "widgets", ["get", "patch"])
    assert fires("RBAC-13", part(widgets, **{f"{LABEL}view": "true"}))
    assert clean("RBAC-13", part(widgets, **{f"{LABEL}edit": "true"}))
    assert clean("RBAC-13", part(widgets, **{f"{LABEL}view": "false"}))


def test_an_unknown_label_is_left_to_the_update() -> None:
    assert judge("RBAC-13", part(SECRETS, **{f"{LABEL}view": UNKNOWN})).unjudged


def test_an_unknown_selector_is_left_to_the_update() -> None:
    assert judge("RBAC-13", parent(UNKNOWN)).unjudged


def test_roles_beside_the_added_one_are_judged_as_what_they_are() -> None:
    writer = role(grant("example.com", "widgets", "patch"), kind="ClusterRole", name="writer")
    program = {"apiVersion": "v1", "kind": "List", "items": [part(grant(), **{f"{LABEL}view": "true"}), writer]}
    assert clean("RBAC-13", program)


def test_urls_of_a_part_count() -> None:
    urls = {"nonResourceURLs": ["*"], "verbs": ["get"]}
    assert fires("RBAC-13", parent({"matchLabels": {"add": "yes"}}), part(urls, add="yes"))

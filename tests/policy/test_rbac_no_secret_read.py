"""RBAC-05."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("", "secrets", "list")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-05", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("", ["configmaps", "secrets"], ["create", "watch"]),
        grant("", "secrets", "get"),
        grant("*", "*", "*"),
        grant(["apps", ""], "secrets", "*"),
        grant("", "secrets", "get", resourceNames=[]),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-05", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-05", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "secrets", "get", resourceNames=["app"]),
        grant("external-secrets.io", ["externalsecrets", "secretstores"], "get"),
        grant("vault.example.com", "secrets", "get"),
        grant("", "secrets", ["create", "update"]),
        grant("", "configmaps", "get"),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-05", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-05", role(grant("", "secrets", [UNKNOWN]), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged


@pytest.mark.parametrize("names", [[""], ["app", ""], [None]])
def test_an_empty_name_is_no_restriction(names: list[Any]) -> None:
    assert fires("RBAC-05", role(grant("", "secrets", "list", resourceNames=names)))


@pytest.mark.parametrize("names", [UNKNOWN, [UNKNOWN], ["app", UNKNOWN]])
def test_unknown_names_are_left_to_the_update(names: Any) -> None:
    outcome = judge("RBAC-05", role(grant("", "secrets", "get", resourceNames=names)))
    assert outcome.unjudged
    assert not outcome.messages


RULES = [BAD]
VALUES = 'rbac:\n  rules:\n  - apiGroups: [""]\n    resources: [secrets]\n    verbs: [get]\n'
GENERATED = {"kind": "Role", "name": "r", "data": {"rules": RULES}}


def holder(kind: str, api: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "h"}, "spec": spec}


@pytest.mark.parametrize(
    "manifest",
    [
        holder("HelmRelease", "helm.toolkit.fluxcd.io/v2", values={"rbac": {"extraRules": RULES}}),
        holder("Application", "argoproj.io/v1alpha1", source={"helm": {"values": VALUES}}),
        holder("ClusterPolicy", "kyverno.io/v1", rules=[{"name": "g", "generate": GENERATED}]),
        holder("ManifestWork", "work.open-cluster-management.io/v1", workload={"manifests": [role(BAD)]}),
    ],
)
def test_a_role_inside_something_else_is_found(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-05", manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        holder("ClusterPolicy", "kyverno.io/v1", rules=[{"name": "g", "validate": {"pattern": {"rules": RULES}}}]),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"values.yaml": VALUES}},
    ],
)
def test_a_role_that_is_only_quoted_passes(manifest: dict[str, Any]) -> None:
    assert clean("RBAC-05", manifest)

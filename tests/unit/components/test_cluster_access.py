"""Rights of people: least privilege by role, bound to groups of the identity provider."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from components.cluster import Baseline, BaselineArgs
from lantau.labels import NAMESPACE_BUSINESS, NAMESPACE_INFERENCE, NAMESPACES
from lantau.stack import Identities
from tests.unit.components.recording import Recorded, record

ROLES = ("platform_admin", "model_engineer", "release_manager", "auditor", "on_call")


@cache
def recorded(*roles: str) -> Recorded:
    people = Identities.model_validate({role: [f"oidc:{role}"] for role in roles})
    return record(lambda: Baseline("baseline", BaselineArgs(dict.fromkeys(NAMESPACES, 0), True, people)), preview=True)


def of_kind(kind: str, *roles: str) -> list[dict[str, Any]]:
    return [dict(each.inputs) for each in recorded(*roles).resources if each.type.endswith(f":{kind}")]


def rights(role: str) -> set[tuple[str, str, str]]:
    """Namespace, resource and verb of everything that a role may do."""
    return {
        (made["metadata"]["namespace"], resource, verb)
        for made in of_kind("Role", role)
        for rule in made["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.mark.parametrize("role", ROLES)
def test_nobody_reads_secrets_opens_a_shell_or_changes_rights(role: str) -> None:
    found = rights(role)
    assert found
    assert {resource for _, resource, _ in found} & {
        "secrets",
        "pods/exec",
        "pods/attach",
        "serviceaccounts/token",
    } == set()
    assert all(verb in {"get", "list", "watch"} for _, resource, verb in found if resource.startswith("role"))
    assert not any("*" in part for right in found for part in right)


def test_no_right_is_cluster_wide() -> None:
    assert of_kind("ClusterRole", *ROLES) == of_kind("ClusterRoleBinding", *ROLES) == []


def test_the_auditor_changes_nothing() -> None:
    assert {verb for _, _, verb in rights("auditor")} == {"get", "list", "watch"}


def test_the_release_manager_moves_weights_and_scales_models_only() -> None:
    changes = {(namespace, resource) for namespace, resource, verb in rights("release_manager") if verb == "patch"}
    assert changes == {(NAMESPACE_INFERENCE, "deployments/scale"), (NAMESPACE_INFERENCE, "httproutes")}


def test_a_model_engineer_sees_nothing_of_the_business_tier() -> None:
    assert NAMESPACE_BUSINESS not in {namespace for namespace, _, _ in rights("model_engineer")}


def test_a_role_is_bound_to_its_groups_and_only_where_somebody_has_it() -> None:
    bindings = of_kind("RoleBinding", "on_call")
    assert {made["metadata"]["namespace"] for made in bindings} == set(NAMESPACES)
    for made in bindings:
        (subject,) = made["subjects"]
        assert (subject["kind"], subject["name"], made["roleRef"]["kind"]) == ("Group", "oidc:on_call", "Role")
    assert of_kind("RoleBinding") == []

"""RBAC-15."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import binding, listed, typed_list

USER = {"kind": "User", "name": "ann"}


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": name}


def account(name: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": "team-a"}


BAD = [
    binding("view", group("system:masters")),
    binding("view", USER, group("system:authenticated")),
    binding("view", group("system:unauthenticated")),
    binding("view", {"kind": "User", "name": "system:anonymous"}),
    binding("view", group("system:serviceaccounts")),
    binding("view", group("system:serviceaccounts:team-a")),
    binding("view", {"kind": "User", "name": "system:masters"}),
]


@pytest.mark.parametrize("manifest", BAD)
def test_the_binding_is_refused(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-15", manifest)


@pytest.mark.parametrize("wrap", [listed, typed_list])
def test_lists_are_looked_into(wrap: Any) -> None:
    assert fires("RBAC-15", wrap(BAD[0]))


@pytest.mark.parametrize(
    "manifest",
    [
        binding("view", USER, group("developers")),
        binding("view", group("system:masters-readonly")),
        binding("view", group("oidc:system:authenticated")),
        binding("view", {"kind": "User", "name": "system:serviceaccount:team-a:worker"}),
        binding("view", account("worker")),
    ],
)
def test_other_bindings_pass(manifest: dict[str, Any]) -> None:
    assert clean("RBAC-15", manifest)


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("RBAC-15", binding("view", {"kind": "Group", "name": UNKNOWN}))
    assert outcome.unjudged
    assert not outcome.messages

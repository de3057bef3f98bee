"""RBAC-16."""

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
    binding("view", account("default")),
    binding("view", USER, account("default")),
    binding("view", {"kind": "User", "name": "system:serviceaccount:team-a:default"}),
]


@pytest.mark.parametrize("manifest", BAD)
def test_the_binding_is_refused(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-16", manifest)


@pytest.mark.parametrize("wrap", [listed, typed_list])
def test_lists_are_looked_into(wrap: Any) -> None:
    assert fires("RBAC-16", wrap(BAD[0]))


@pytest.mark.parametrize(
    "manifest",
    [
        binding("view", account("default-worker")),
        binding("view", account("worker")),
        binding("view", {"kind": "User", "name": "default"}),
        binding("view", group("default")),
    ],
)
def test_other_bindings_pass(manifest: dict[str, Any]) -> None:
    assert clean("RBAC-16", manifest)


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("RBAC-16", binding("view", {"kind": "ServiceAccount", "name": UNKNOWN}))
    assert outcome.unjudged
    assert not outcome.messages

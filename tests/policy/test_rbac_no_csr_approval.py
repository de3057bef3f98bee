"""RBAC-11."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role, typed_list

BAD = grant("certificates.k8s.io", "certificatesigningrequests/approval", "update")


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_the_right_is_refused(kind: str) -> None:
    assert judge("RBAC-11", role(BAD, kind=kind)).paths == ["rules[0]"]


@pytest.mark.parametrize(
    "rule",
    [
        grant("certificates.k8s.io", "certificatesigningrequests/approval", "patch"),
        grant("certificates.k8s.io", "signers", "approve"),
        grant("certificates.k8s.io", "signers", "approve", resourceNames=["kubernetes.io/kube-apiserver-client"]),
        grant("certificates.k8s.io", "*", "*"),
    ],
)
def test_the_right_is_found_however_it_is_written(rule: dict[str, Any]) -> None:
    assert fires("RBAC-11", role(grant(), rule))


@pytest.mark.parametrize("manifest", [listed(role(BAD)), typed_list(role(BAD))])
def test_lists_are_looked_into(manifest: dict[str, Any]) -> None:
    assert fires("RBAC-11", manifest)


@pytest.mark.parametrize(
    "rule",
    [
        grant("certificates.k8s.io", "certificatesigningrequests", ["get", "create"]),
        grant("cert-manager.io", "signers", "approve"),
    ],
)
def test_other_rights_pass(rule: dict[str, Any]) -> None:
    assert clean("RBAC-11", role(rule, kind="ClusterRole"))


def test_an_unknown_item_is_left_to_the_update_and_hides_nothing() -> None:
    outcome = judge("RBAC-11", role(grant("certificates.k8s.io", "signers", [UNKNOWN]), BAD))
    assert outcome.paths == ["rules[1]"]
    assert outcome.unjudged

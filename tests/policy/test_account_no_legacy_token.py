"""SA-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import listed


def secret(kind: Any = None, **annotations: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t", "annotations": annotations}}
    return body if kind is None else {**body, "type": kind}


BAD = [
    secret("kubernetes.io/service-account-token", **{"kubernetes.io/service-account.name": "worker"}),
    secret("kubernetes.io/service-account-token"),
    secret(**{"kubernetes.io/service-account.name": "worker"}),
]


@pytest.mark.parametrize("manifest", BAD)
def test_a_token_secret_is_refused(manifest: dict[str, Any]) -> None:
    assert fires("SA-03", manifest)
    assert fires("SA-03", listed(manifest))


@pytest.mark.parametrize("kind", ["Opaque", "kubernetes.io/tls", "kubernetes.io/dockerconfigjson", None])
def test_other_secrets_pass(kind: Any) -> None:
    assert clean("SA-03", secret(kind))


def test_an_unknown_type_is_left_to_the_update() -> None:
    assert judge("SA-03", secret(UNKNOWN)).unjudged


def test_a_secret_of_another_group_is_another_thing() -> None:
    assert clean("SA-03", {**secret("kubernetes.io/service-account-token"), "apiVersion": "example.com/v1"})

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


def made_by(kind: str, api: str, template: Any, place: str = "spec") -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "m"}, place: {"template": template}}


TEMPLATE = {"type": "kubernetes.io/service-account-token"}
NAMED = {"metadata": {"annotations": {"kubernetes.io/service-account.name": "worker"}}}


@pytest.mark.parametrize("template", [TEMPLATE, NAMED, {**TEMPLATE, **NAMED}])
def test_a_token_secret_that_an_operator_makes_is_refused(template: dict[str, Any]) -> None:
    assert fires("SA-03", made_by("SealedSecret", "bitnami.com/v1alpha1", template))
    external = made_by("ExternalSecret", "external-secrets.io/v1", template)
    assert fires("SA-03", {**external, "spec": {"target": external["spec"]}})
    assert fires("SA-03", {**external, "spec": {"list": [external["spec"]]}})


@pytest.mark.parametrize(
    "manifest",
    [
        made_by("SealedSecret", "bitnami.com/v1alpha1", {"type": "Opaque"}),
        made_by("ClusterPolicy", "kyverno.io/v1", {}, "x") | {"spec": {"pattern": TEMPLATE}},
        made_by("Deployment", "apps/v1", TEMPLATE),
    ],
)
def test_other_templates_pass(manifest: dict[str, Any]) -> None:
    assert clean("SA-03", manifest)


def test_a_secret_inside_a_custom_resource_is_told_once() -> None:
    bundle = {"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork", "metadata": {"name": "w"}}
    inner = {**BAD[0], "data": {}}
    assert len(judge("SA-03", {**bundle, "spec": {"template": inner}}).messages) == 1

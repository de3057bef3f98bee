"""SA-04."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec


def token(**fields: Any) -> dict[str, Any]:
    sources = [{"configMap": {"name": "ca"}}, {"serviceAccountToken": {"path": "token", **fields}}]
    return pod_spec(volumes=[{"name": "token", "projected": {"sources": sources}}])


@pytest.mark.parametrize("spec", [token(), token(audience=""), token(audience="vault", expirationSeconds=86400)])
@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_a_broad_or_long_token_is_refused(hold: Any, spec: dict[str, Any]) -> None:
    assert fires("SA-04", hold(spec))


@pytest.mark.parametrize("spec", [token(audience="vault"), token(audience="vault", expirationSeconds=3600), pod_spec()])
def test_a_narrow_token_passes(spec: dict[str, Any]) -> None:
    assert clean("SA-04", pod(spec))


def test_a_driver_asks_for_narrow_tokens_only() -> None:
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"}}
    assert fires("SA-04", {**driver, "spec": {"tokenRequests": [{"audience": ""}]}})
    assert clean("SA-04", {**driver, "spec": {"tokenRequests": [{"audience": "vault", "expirationSeconds": 600}]}})


def test_an_unknown_audience_is_left_to_the_update() -> None:
    assert judge("SA-04", pod(token(audience=UNKNOWN))).unjudged


def test_an_unknown_source_is_left_to_the_update() -> None:
    volumes = [{"name": "token", "projected": {"sources": [UNKNOWN]}}]
    assert judge("SA-04", pod(pod_spec(volumes=volumes))).unjudged

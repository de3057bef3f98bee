"""SUP-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge

DIGEST = "sha256:" + "a" * 64


HELM = "kubernetes:helm.sh/v3:Release"


PRODUCTION = {"productionStacks": ["*"]}


@pytest.mark.parametrize(
    "release",
    [
        {"chart": "redis"},
        {"chart": "redis", "version": "1.0.0", "repositoryOpts": {"repo": "http://charts.example.com"}},
        {"chart": "redis", "version": "1.0.0", "values": {"securityContext": {"privileged": True}}},
        {"chart": "redis", "version": "1.0.0", "values": {"podSecurityContext": {"runAsUser": 0}}},
    ],
)
def test_an_opaque_release_is_refused_in_production(release: dict[str, Any]) -> None:
    assert fires("SUP-03", release, token=HELM, config=PRODUCTION)
    assert clean("SUP-03", release, token=HELM)


@pytest.mark.parametrize(
    "release",
    [
        {"chart": "redis", "version": "1.0.0", "repositoryOpts": {"repo": "https://charts.example.com"}},
        {"chart": f"oci://registry.example.com/redis@{DIGEST}"},
        {"chart": "./charts/redis", "values": {"securityContext": {"runAsUser": 1000, "privileged": False}}},
    ],
)
def test_a_pinned_release_passes(release: dict[str, Any]) -> None:
    assert clean("SUP-03", release, token=HELM, config=PRODUCTION)


def test_an_unknown_version_is_left_to_the_update() -> None:
    assert judge("SUP-03", {"chart": "redis", "version": UNKNOWN}, token=HELM, config=PRODUCTION).unjudged

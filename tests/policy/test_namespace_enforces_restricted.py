"""PSS-17."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import listed
from tests.policy.networks import namespace

LEVEL = "pod-security.kubernetes.io/"


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {f"{LEVEL}warn": "restricted", f"{LEVEL}audit": "restricted"},
        {f"{LEVEL}enforce": "baseline"},
        {f"{LEVEL}enforce": "privileged"},
        {f"{LEVEL}enforce": "restricted", f"{LEVEL}enforce-version": "v1.19"},
    ],
)
def test_a_weaker_namespace_is_refused(labels: dict[str, str]) -> None:
    assert fires("PSS-17", namespace(**labels))
    assert fires("PSS-17", listed(namespace(**labels)))


@pytest.mark.parametrize("version", ["latest", "v1.37", None])
def test_a_restricted_namespace_passes(version: Any) -> None:
    labels = {f"{LEVEL}enforce": "restricted"} | ({f"{LEVEL}enforce-version": version} if version else {})
    assert clean("PSS-17", namespace(**labels))


def test_an_unknown_level_is_left_to_the_update() -> None:
    assert judge("PSS-17", namespace(**{f"{LEVEL}enforce": UNKNOWN})).unjudged


def test_a_patch_that_does_not_touch_the_level_passes() -> None:
    assert clean("PSS-17", namespace(team="a"), token="kubernetes:core/v1:NamespacePatch")
    lowered = namespace(**{f"{LEVEL}enforce": "baseline"})
    assert fires("PSS-17", lowered, token="kubernetes:core/v1:NamespacePatch")


def test_namespaces_of_the_cluster_can_be_named_in_config() -> None:
    assert clean("PSS-17", namespace("kube-system"))
    assert fires("PSS-17", namespace("kube-system"), config={"systemNamespaces": []})

"""SUP-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec

DIGEST = "sha256:" + "a" * 64


def running(image: Any) -> dict[str, Any]:
    return pod_spec(containers=[container(), container("other", image=image)])


@pytest.mark.parametrize(
    "image", ["app", "app:latest", "app:1.2.3", "registry.example.com:5000/app:1", "app@sha256:abc"]
)
@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_an_image_without_a_digest_is_refused(hold: Any, image: str) -> None:
    assert fires("SUP-01", hold(running(image)))


@pytest.mark.parametrize("image", [f"app@{DIGEST}", f"registry.example.com:5000/team/app:1.2@{DIGEST}"])
def test_a_digest_passes(image: str) -> None:
    assert clean("SUP-01", pod(running(image)))


def test_an_image_volume_is_an_image_too() -> None:
    volumes = [{"name": "model", "image": {"reference": "registry.example.com/model:1"}}]
    assert fires("SUP-01", pod(pod_spec(volumes=volumes)))


def test_an_unknown_image_is_left_to_the_update_and_hides_nothing() -> None:
    spec = pod_spec(containers=[container(image=UNKNOWN), container("b", image="app:1")])
    outcome = judge("SUP-01", pod(spec))
    assert outcome.messages
    assert outcome.unjudged

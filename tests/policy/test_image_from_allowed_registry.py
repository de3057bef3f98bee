"""SUP-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import container, pod, pod_spec


def running(image: Any) -> dict[str, Any]:
    return pod_spec(containers=[container(), container("other", image=image)])


@pytest.mark.parametrize(
    ("image", "refused"),
    [
        ("registry.example.com/app", False),
        ("registry.example.com/team/app:1", False),
        ("registry.example.com.evil.net/app", True),
        ("registry.example.community/app", True),
        ("nginx", True),
        ("docker.io/library/nginx", True),
        ("team/app", True),
    ],
)
def test_images_come_from_allowed_registries(image: str, refused: bool) -> None:
    assert fires("SUP-02", pod(running(image)), config={"registries": ["registry.example.com"]}) is refused


def test_a_short_name_is_of_docker_hub() -> None:
    for image in ("nginx", "library/nginx:1", "docker.io/library/nginx"):
        spec = pod_spec(containers=[container(image=image)])
        assert clean("SUP-02", pod(spec), config={"registries": ["docker.io/library"]})


def test_without_a_list_every_registry_passes() -> None:
    assert clean("SUP-02", pod(running("nginx")))


def test_an_unknown_image_is_left_to_the_update() -> None:
    spec = pod_spec(containers=[container(image=UNKNOWN)])
    assert judge("SUP-02", pod(spec), config={"registries": ["registry.example.com"]}).unjudged

"""SUP-01 to SUP-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec

DIGEST = "sha256:" + "a" * 64
HELM = "kubernetes:helm.sh/v3:Release"
PRODUCTION = {"productionStacks": ["*"]}


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
    assert judge("SUP-02", pod(spec), config={"registries": ["registry.example.com"]}).unjudged


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

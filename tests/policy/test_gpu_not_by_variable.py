"""GPU-05."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec

GPU = {"limits": {"nvidia.com/gpu": 1}}


def devices(value: Any, **more: Any) -> dict[str, Any]:
    return container(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}], **more)


@pytest.mark.parametrize("value", ["all", "0", "0,1", "GPU-6f1e2b4a"])
@pytest.mark.parametrize("tier", ["business", "inference"])
def test_cards_without_a_request_are_refused(value: str, tier: str) -> None:
    assert fires("GPU-05", pod(pod_spec(containers=[devices(value)]), labels={"lantau.internal/tier": tier}))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_list_of_every_kind_is_judged(hold: Any) -> None:
    assert fires("GPU-05", hold(pod_spec(initContainers=[devices("all")])))


@pytest.mark.parametrize("value", ["void", "none", ""])
def test_switching_cards_off_passes(value: str) -> None:
    assert clean("GPU-05", pod(pod_spec(containers=[devices(value)])))


def test_a_container_that_asks_passes() -> None:
    assert clean("GPU-05", pod(pod_spec(containers=[devices("all", resources=GPU)])))
    assert clean("GPU-05", pod(pod_spec(containers=[devices("all")]), labels={"lantau.internal/tier": "gpu-system"}))


def test_a_request_of_another_container_does_not_count() -> None:
    assert fires("GPU-05", pod(pod_spec(containers=[container(resources=GPU)], initContainers=[devices("all")])))


def test_an_unknown_value_is_left_to_the_update() -> None:
    assert judge("GPU-05", pod(pod_spec(containers=[devices(UNKNOWN)]))).unjudged

"""GPU-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec


def gpus(name: str = "nvidia.com/gpu", amount: Any = 1) -> dict[str, Any]:
    return container(resources={"limits": {name: amount}})


def tier(value: Any) -> dict[str, Any]:
    return {"lantau.internal/tier": value}


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_a_pod_outside_the_gpu_tiers_is_refused(hold: Any) -> None:
    assert fires("GPU-02", hold(pod_spec(containers=[gpus()])))


@pytest.mark.parametrize(
    "spec",
    [
        pod_spec(initContainers=[gpus()]),
        pod_spec(containers=[gpus("nvidia.com/mig-1g.10gb", "1")]),
        pod_spec(containers=[gpus("aliyun.com/gpu-mem", 4)]),
        pod_spec(containers=[gpus("amd.com/gpu", 1.0)]),
        pod_spec(containers=[container(resources={"requests": {"nvidia.com/gpu": "2"}})]),
        pod_spec(resources={"limits": {"nvidia.com/gpu": 1}}),
        pod_spec(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}]),
    ],
)
def test_the_request_is_found_however_it_is_written(spec: dict[str, Any]) -> None:
    assert fires("GPU-02", pod(spec, labels=tier("business")))


@pytest.mark.parametrize("value", ["inference", "batch"])
def test_gpu_tiers_may_ask(value: str) -> None:
    assert clean("GPU-02", pod(pod_spec(containers=[gpus()]), labels=tier(value)))


@pytest.mark.parametrize(
    "spec",
    [pod_spec(), pod_spec(containers=[gpus(amount=0)]), pod_spec(containers=[gpus("cpu", "2"), gpus("memory", "1Gi")])],
)
def test_pods_without_gpus_pass(spec: dict[str, Any]) -> None:
    assert clean("GPU-02", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    assert judge("GPU-02", pod(pod_spec(containers=[gpus()]), labels=tier(UNKNOWN))).unjudged


def test_the_vocabulary_is_configured() -> None:
    labels = {"example.com/part": "models"}
    config = {"tierLabel": "example.com/part", "gpuTiers": ["models"]}
    manifest = pod(pod_spec(containers=[gpus()]), labels=labels)
    assert fires("GPU-02", manifest)
    assert clean("GPU-02", manifest, config=config)

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


@pytest.mark.parametrize(
    "name",
    [
        "nvidia.com/mig-1g.10gb",
        "nvidia.com/gpu.shared",
        "aliyun.com/gpu-mem",
        "tke.cloud.tencent.com/qgpu-core",
        "koordinator.sh/gpu",
        "volcano.sh/vgpu-number",
        "huawei.com/Ascend910",
        "cloud-tpus.google.com/v3",
        "aws.amazon.com/neuron",
        "enflame.com/gcu",
    ],
)
def test_every_makers_name_is_known(name: str) -> None:
    assert fires("GPU-02", pod(pod_spec(containers=[gpus(name)])))
    assert fires("GPU-02", pod(pod_spec(overhead={name: "1"})))
    assert fires("GPU-02", pod(pod_spec(resources={"limits": {name: "1"}})))


@pytest.mark.parametrize("name", ["smarter-devices/fuse", "hugepages-2Mi", "ephemeral-storage", "example.com/nic"])
def test_other_devices_pass(name: str) -> None:
    assert clean("GPU-02", pod(pod_spec(containers=[gpus(name)])))


@pytest.mark.parametrize("namespace", ["lantau-business", "lantau-vector", "acme-business-eu"])
def test_a_label_is_not_believed_in_a_namespace_of_another_tier(namespace: str) -> None:
    manifest = pod(pod_spec(containers=[gpus()]), labels=tier("inference"), namespace=namespace)
    assert fires("GPU-02", manifest)
    assert clean("GPU-02", manifest, config={"foreignNamespaces": []})


def claim(namespace: str, device: Any, kind: str = "ResourceClaim", **labels: str) -> dict[str, Any]:
    devices = {"devices": {"requests": [{"name": "a", **device}]}}
    spec = devices if kind == "ResourceClaim" else {"spec": devices}
    metadata = {"name": "a", "namespace": namespace, "labels": labels}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


GPU_CLASS = {"exactly": {"deviceClassName": "gpu.nvidia.com"}}


@pytest.mark.parametrize(
    "device",
    [GPU_CLASS, {"deviceClassName": "mig.nvidia.com"}, {"firstAvailable": [{"deviceClassName": "gpu.example.com"}]}],
)
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_claims_of_other_tiers_are_refused(device: dict[str, Any], kind: str) -> None:
    assert fires("GPU-02", claim("lantau-business", device, kind))
    assert clean("GPU-02", claim("lantau-inference", device, kind))
    assert clean("GPU-02", claim("lantau-business", {"deviceClassName": "nic.example.com"}, kind))


def test_a_claim_of_nobody_known_is_judged_with_its_pod() -> None:
    assert clean("GPU-02", claim("team-a", GPU_CLASS))
    assert fires("GPU-02", claim("team-a", GPU_CLASS, **tier("web")))
    assert fires("GPU-02", pod(pod_spec(resourceClaims=[{"name": "g", "resourceClaimName": "a"}])))
    assert judge("GPU-02", claim("lantau-business", {"deviceClassName": UNKNOWN})).unjudged

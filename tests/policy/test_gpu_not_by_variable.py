"""GPU-05."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, deployment, pod, pod_spec

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


def settings_map(value: Any, key: str = "NVIDIA_VISIBLE_DEVICES", namespace: str = "team-a") -> dict[str, Any]:
    metadata = {"name": "devices", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {key: value}}


FROM_MAP = container(envFrom=[{"configMapRef": {"name": "devices"}}])
BY_KEY = container(
    env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"configMapKeyRef": {"name": "devices", "key": "k"}}}]
)


def test_a_variable_out_of_a_config_map_is_judged_by_what_the_map_says() -> None:
    assert fires("GPU-05", settings_map("all"), pod(pod_spec(containers=[FROM_MAP])))
    assert clean("GPU-05", settings_map("void"), pod(pod_spec(containers=[FROM_MAP])))
    assert clean("GPU-05", settings_map("all", namespace="team-b"), pod(pod_spec(containers=[FROM_MAP])))
    assert fires("GPU-05", settings_map("all", "k"), pod(pod_spec(containers=[BY_KEY])))
    assert clean("GPU-05", settings_map("none", "k"), pod(pod_spec(containers=[BY_KEY])))
    assert fires("GPU-05", pod(pod_spec(containers=[BY_KEY])))
    assert judge("GPU-05", settings_map(UNKNOWN), pod(pod_spec(containers=[FROM_MAP]))).unjudged
    prefixed = container(envFrom=[{"prefix": "NVIDIA_", "configMapRef": {"name": "devices"}}])
    assert fires("GPU-05", settings_map("all", "VISIBLE_DEVICES"), pod(pod_spec(containers=[prefixed])))


@pytest.mark.parametrize("name", ["AMD_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES"])
def test_other_makers_have_such_variables_too(name: str) -> None:
    assert fires("GPU-05", pod(pod_spec(containers=[container(env=[{"name": name, "value": "0"}])])))


def test_a_runtime_that_obeys_the_variable_of_the_image_is_refused_without_a_request() -> None:
    assert fires("GPU-05", pod(pod_spec(runtimeClassName="nvidia")))
    assert clean("GPU-05", pod(pod_spec(runtimeClassName="nvidia", containers=[container(resources=GPU)])))
    assert clean("GPU-05", pod(pod_spec(runtimeClassName="gvisor")))
    none = container(resources={"limits": {"nvidia.com/gpu": 0}})
    assert fires("GPU-05", pod(pod_spec(runtimeClassName="nvidia", containers=[none])))


def test_device_mounts_and_annotations_are_variables_in_disguise() -> None:
    mount = container(volumeMounts=[{"name": "d", "mountPath": "/var/run/nvidia-container-devices/all"}])
    assert fires("GPU-05", pod(pod_spec(containers=[mount])))
    assert fires("GPU-05", pod(annotations={"cdi.k8s.io/app": "nvidia.com/gpu=all"}))
    assert clean("GPU-05", pod(annotations={"example.com/cdi": "nvidia.com/gpu=all"}))


def test_a_claim_of_devices_is_a_request() -> None:
    claims = {"claims": [{"name": "gpu"}]}
    assert clean("GPU-05", pod(pod_spec(containers=[devices("all", resources=claims)])))
    assert fires("GPU-05", pod(pod_spec(containers=[devices("all", resources={"claims": []})])))


def test_exporters_of_the_nodes_need_no_label_in_their_own_namespace() -> None:
    manifest = deployment(pod_spec(containers=[devices("all")]), kind="DaemonSet")
    assert fires("GPU-05", manifest)
    manifest["metadata"]["namespace"] = "gpu-operator"
    assert clean("GPU-05", manifest)
    assert fires("GPU-05", {**manifest, "kind": "Deployment"})
    assert fires("GPU-05", manifest, config={"gpuSystemNamespaces": []})

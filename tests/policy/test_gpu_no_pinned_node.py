"""GPU-04."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "hk-7", "labels": {"lantau.internal/role": "online"}},
}


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_a_pod_pinned_to_a_gpu_node_is_refused(hold: Any) -> None:
    assert fires("GPU-04", hold(pod_spec(nodeName="gpu-a100-1")))


def test_a_gpu_node_is_known_by_the_labels_the_program_gives_it() -> None:
    manifest = pod(pod_spec(nodeName="hk-7"))
    assert clean("GPU-04", manifest)
    assert fires("GPU-04", manifest, NODE)


def test_gpu_tiers_and_other_nodes_pass() -> None:
    assert clean("GPU-04", pod(pod_spec(nodeName="gpu-a100-1"), labels={"lantau.internal/tier": "inference"}))
    assert clean("GPU-04", pod(pod_spec(nodeName="biz-1")))


def test_an_unknown_name_is_left_to_the_update() -> None:
    assert judge("GPU-04", pod(pod_spec(nodeName=UNKNOWN))).unjudged


def test_node_names_are_configured() -> None:
    assert fires("GPU-04", pod(pod_spec(nodeName="rack7-3")), config={"gpuNodes": ["rack7-*"]})


@pytest.mark.parametrize(
    "fields",
    [
        {"status": {"capacity": {"nvidia.com/gpu": "8"}}},
        {"status": {"allocatable": {"amd.com/gpu": 4}}},
        {"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}},
        {"metadata": {"name": "hk-7", "labels": {"lantau.internal/pool": "online-a100"}}},
    ],
)
def test_a_gpu_node_is_known_by_what_it_holds(fields: dict[str, Any]) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "hk-7"}, **fields}
    assert fires("GPU-04", pod(pod_spec(nodeName="hk-7")), node)


@pytest.mark.parametrize(
    "fields",
    [{"status": {"capacity": {"nvidia.com/gpu": "0", "cpu": "8"}}}, {"spec": {"taints": [{"key": "dedicated"}]}}],
)
def test_a_node_without_gpus_is_none(fields: dict[str, Any]) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "hk-7"}, **fields}
    assert clean("GPU-04", pod(pod_spec(nodeName="hk-7")), node)


def bound(node: Any, namespace: str = "team-a") -> dict[str, Any]:
    metadata = {"name": "app", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": node}}


def test_a_binding_pins_like_a_node_name() -> None:
    assert fires("GPU-04", bound("gpu-a100-1"))
    assert fires("GPU-04", bound("hk-7"), NODE)
    assert clean("GPU-04", bound("biz-1"))
    assert clean("GPU-04", bound("gpu-a100-1", "lantau-inference"))


def test_a_label_is_not_believed_in_a_namespace_of_another_tier() -> None:
    spec, labels = pod_spec(nodeName="gpu-a100-1"), {"lantau.internal/tier": "inference"}
    assert fires("GPU-04", pod(spec, namespace="lantau-business", labels=labels))

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

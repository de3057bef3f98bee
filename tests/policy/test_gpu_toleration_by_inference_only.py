"""GPU-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, deployment, pod, pod_spec

ROLE = "lantau.internal/role"
ONLINE = {"key": ROLE, "operator": "Equal", "value": "online", "effect": "NoSchedule"}


def tier(value: Any) -> dict[str, Any]:
    return {"lantau.internal/tier": value}


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_a_pod_outside_the_gpu_tiers_is_refused(hold: Any) -> None:
    assert fires("GPU-01", hold(pod_spec(tolerations=[ONLINE])))


@pytest.mark.parametrize(
    "toleration",
    [
        pytest.param({"operator": "Exists"}, id="every taint"),
        pytest.param({"operator": "Exists", "effect": "NoSchedule"}, id="every taint of the effect"),
        pytest.param({"key": ROLE, "operator": "Exists"}, id="every role"),
        pytest.param({"key": ROLE, "value": "offline"}, id="Equal by default"),
        pytest.param(
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}, id="the operator's taint"
        ),
    ],
)
def test_the_toleration_is_found_however_it_is_written(toleration: dict[str, Any]) -> None:
    harmless = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    assert fires("GPU-01", pod(pod_spec(tolerations=[harmless, toleration]), labels=tier("vector")))


@pytest.mark.parametrize(
    "toleration",
    [
        {"key": ROLE, "operator": "Equal", "value": "data", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"operator": "Exists", "effect": "NoExecute"},
        {"key": "dedicated", "operator": "Exists"},
    ],
)
def test_other_tolerations_pass(toleration: dict[str, Any]) -> None:
    assert clean("GPU-01", pod(pod_spec(tolerations=[toleration]), labels=tier("vector")))


@pytest.mark.parametrize("value", ["inference", "batch", "gpu-system"])
def test_gpu_tiers_may_tolerate(value: str) -> None:
    assert clean("GPU-01", pod(pod_spec(tolerations=[ONLINE, {"operator": "Exists"}]), labels=tier(value)))


def test_an_unknown_is_left_to_the_update() -> None:
    assert judge("GPU-01", pod(pod_spec(tolerations=[{"key": ROLE, "value": UNKNOWN}]))).unjudged
    assert judge("GPU-01", pod(pod_spec(tolerations=[UNKNOWN]))).unjudged


def test_taints_of_other_programs_are_configured() -> None:
    manifest = pod(pod_spec(tolerations=[{"key": "cards.example.com", "operator": "Exists"}]))
    assert clean("GPU-01", manifest)
    assert fires("GPU-01", manifest, config={"gpuTaints": ["cards.example.com"]})


def test_a_label_is_not_believed_in_a_namespace_of_another_tier() -> None:
    manifest = pod(
        pod_spec(tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}]),
        namespace="lantau-business",
        labels={"lantau.internal/tier": "inference"},
    )
    assert fires("GPU-01", manifest)
    assert clean("GPU-01", manifest, config={"foreignNamespaces": ["other"]})


def test_exporters_of_the_nodes_need_no_label_in_their_own_namespace() -> None:
    manifest = deployment(pod_spec(tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}]), kind="DaemonSet")
    assert fires("GPU-01", manifest)
    manifest["metadata"]["namespace"] = "nvidia-device-plugin"
    assert clean("GPU-01", manifest)
    assert fires("GPU-01", {**manifest, "kind": "Deployment"})

"""AVL-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import deployment, pod_spec

PRODUCTION = {"productionStacks": ["*"]}


def service(replicas: Any = 2, kind: str = "Deployment", **spec: Any) -> dict[str, Any]:
    manifest = deployment(pod_spec(**spec), kind=kind)
    if replicas is not None:
        manifest["spec"]["replicas"] = replicas
    return manifest


def scaler(least: Any, name: str = "app") -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "app", "namespace": "team-a"},
        "spec": {"minReplicas": least, "scaleTargetRef": {"kind": "Deployment", "name": name}},
    }


@pytest.mark.parametrize(
    "program", [[service(1)], [service(None)], [service(1, "StatefulSet")], [service(3), scaler(1)]]
)
def test_a_single_pod_is_told_in_production(program: list[dict[str, Any]]) -> None:
    assert fires("AVL-01", *program, config=PRODUCTION)
    assert clean("AVL-01", *program)


@pytest.mark.parametrize("program", [[service(2)], [service(0)], [service(None), scaler(2)], [service(1, "DaemonSet")]])
def test_two_pods_pass(program: list[dict[str, Any]]) -> None:
    assert clean("AVL-01", *program, config=PRODUCTION)


def test_an_unknown_number_is_left_to_the_update() -> None:
    assert judge("AVL-01", service(UNKNOWN), config=PRODUCTION).unjudged

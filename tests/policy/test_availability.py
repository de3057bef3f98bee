"""AVL-01 to AVL-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import deployment, pod_spec

PRODUCTION = {"productionStacks": ["*"]}
SPREAD = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}]


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


def budget(namespace: str = "team-a", app: Any = "app", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "app", "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": app}}, **(spec or {"maxUnavailable": 1})},
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


@pytest.mark.parametrize(
    "program",
    [
        [service(2)],
        [service(2), budget(namespace="team-b")],
        [service(2), budget(app="other")],
        [service(2), budget(maxUnavailable=0)],
        [service(2), budget(minAvailable=2)],
        [service(2), budget(minAvailable="100%")],
    ],
)
def test_a_missing_or_blocking_budget_is_refused(program: list[dict[str, Any]]) -> None:
    assert fires("AVL-02", *program, config=PRODUCTION)
    assert clean("AVL-02", *program)


@pytest.mark.parametrize(
    "program",
    [
        [service(2), budget()],
        [service(3), budget(minAvailable=2)],
        [service(1)],
        [service(2), budget(minAvailable="50%")],
    ],
)
def test_a_budget_with_room_passes(program: list[dict[str, Any]]) -> None:
    assert clean("AVL-02", *program, config=PRODUCTION)


def test_an_unknown_selector_is_left_to_the_update() -> None:
    assert judge("AVL-02", service(2), budget(app=UNKNOWN), config=PRODUCTION).unjudged


def test_pods_that_may_share_a_node_are_refused() -> None:
    assert fires("AVL-03", service(2), config=PRODUCTION)
    assert clean("AVL-03", service(2))


def test_spread_pods_pass() -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "x"}]}}
    assert clean("AVL-03", service(2, topologySpreadConstraints=SPREAD), config=PRODUCTION)
    assert clean("AVL-03", service(2, affinity=apart), config=PRODUCTION)
    assert clean("AVL-03", service(1), config=PRODUCTION)
    assert judge("AVL-03", service(2, affinity=UNKNOWN), config=PRODUCTION).unjudged

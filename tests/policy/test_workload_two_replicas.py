"""AVL-01."""

from typing import Any

import pytest
from pulumi_policy import EnforcementLevel

from tests.policy.harness import UNKNOWN, clean, fires, judge, rule
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


def keda(least: Any, name: str = "app") -> dict[str, Any]:
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "app", "namespace": "team-a"},
        "spec": {"minReplicaCount": least, "scaleTargetRef": {"name": name}},
    }


def front(namespace: str = "team-a", **selector: str) -> dict[str, Any]:
    metadata = {"name": "front", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": selector}}


def named(name: str, replicas: int, **labels: str) -> dict[str, Any]:
    manifest = service(replicas)
    manifest["metadata"]["name"] = name
    manifest["spec"]["template"]["metadata"]["labels"] = labels
    return manifest


@pytest.mark.parametrize(
    "program",
    [
        [service(3), scaler(None)],
        [service(None), scaler(2, "other")],
        [service(3), keda(1)],
        [service(None), keda(0), front(app="app")],
        [service(None), keda(None), front(app="app")],
    ],
)
def test_the_least_number_of_an_autoscaler_counts(program: list[dict[str, Any]]) -> None:
    assert fires("AVL-01", *program, config=PRODUCTION)


def test_work_that_waits_may_be_scaled_to_nothing() -> None:
    assert clean("AVL-01", service(None), keda(0), config=PRODUCTION)
    assert clean("AVL-01", service(None), keda(None), front(app="web"), config=PRODUCTION)
    assert clean("AVL-01", service(None), keda(2), config=PRODUCTION)


def test_a_canary_counts_with_the_stable_pods_behind_the_same_service() -> None:
    stable, canary = named("stable", 2, app="app", track="stable"), named("canary", 1, app="app", track="canary")
    assert clean("AVL-01", stable, canary, front(app="app"), config=PRODUCTION)
    assert fires("AVL-01", stable, canary, config=PRODUCTION)
    assert fires("AVL-01", stable, canary, front(app="app"), front(track="canary"), config=PRODUCTION)
    assert fires("AVL-01", stable, canary, front("team-b", app="app"), config=PRODUCTION)
    assert fires("AVL-01", canary, front(app="app"), config=PRODUCTION)


@pytest.mark.parametrize(
    ("kind", "api"), [("Rollout", "argoproj.io/v1alpha1"), ("CloneSet", "apps.kruise.io/v1alpha1")]
)
def test_kinds_of_other_controllers_are_services_too(kind: str, api: str) -> None:
    assert fires("AVL-01", {**service(1, kind), "apiVersion": api}, config=PRODUCTION)
    assert clean("AVL-01", {**service(2, kind), "apiVersion": api}, config=PRODUCTION)


def test_it_holds_the_update_back() -> None:
    assert rule("AVL-01").level is EnforcementLevel.MANDATORY

"""AVL-02."""

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


def budget(namespace: str = "team-a", app: Any = "app", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "app", "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": app}}, **(spec or {"maxUnavailable": 1})},
    }


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

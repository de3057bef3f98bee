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


@pytest.mark.parametrize(
    ("replicas", "spec"),
    [
        (2, {"minAvailable": 0}),
        (2, {"minAvailable": "0%"}),
        (2, {"maxUnavailable": "100%"}),
        (2, {"maxUnavailable": 2}),
        (2, {"maxUnavailable": "51%"}),
        (2, {"minAvailable": "51%"}),
        (3, {"maxUnavailable": "0%"}),
        (2, {"selector": None, "maxUnavailable": 1}),
    ],
)
def test_a_budget_that_lets_all_or_nobody_go_is_refused(replicas: int, spec: dict[str, Any]) -> None:
    manifest = budget()
    manifest["spec"] = {"selector": manifest["spec"]["selector"], **spec}
    assert fires("AVL-02", service(replicas), manifest, config=PRODUCTION)


@pytest.mark.parametrize(
    ("replicas", "spec"),
    [
        (2, {"maxUnavailable": "50%"}),
        (4, {"maxUnavailable": "25%"}),
        (3, {"minAvailable": "51%"}),
        (3, {"maxUnavailable": 2}),
    ],
)
def test_percentages_are_rounded_as_the_api_server_does(replicas: int, spec: dict[str, Any]) -> None:
    assert clean("AVL-02", service(replicas), budget(**spec), config=PRODUCTION)


def test_an_empty_selector_means_everything_now_and_nothing_before() -> None:
    manifest = {**budget(), "spec": {"selector": {}, "maxUnavailable": 1}}
    assert clean("AVL-02", service(2), manifest, config=PRODUCTION)
    assert fires("AVL-02", service(2), {**manifest, "apiVersion": "policy/v1beta1"}, config=PRODUCTION)


def test_two_budgets_for_the_same_pods_refuse_every_eviction() -> None:
    second = budget()
    second["metadata"]["name"] = "second"
    assert fires("AVL-02", service(2), budget(), second, config=PRODUCTION)


def test_unknown_numbers_accuse_nobody() -> None:
    assert clean("AVL-02", service(UNKNOWN), budget(maxUnavailable=3), config=PRODUCTION)
    assert clean("AVL-02", service(2), budget(maxUnavailable=UNKNOWN), config=PRODUCTION)
    assert clean("AVL-02", service(2), budget(minAvailable=UNKNOWN), config=PRODUCTION)

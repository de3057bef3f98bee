"""AVL-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import deployment, pod_spec

PRODUCTION = {"productionStacks": ["*"]}


OWN = {"matchLabels": {"app": "app"}}
OTHER = {"matchLabels": {"app": "web"}}
HOST = "kubernetes.io/hostname"
SPREAD = [{"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": OWN}]


def service(replicas: Any = 2, kind: str = "Deployment", **spec: Any) -> dict[str, Any]:
    manifest = deployment(pod_spec(**spec), kind=kind)
    if replicas is not None:
        manifest["spec"]["replicas"] = replicas
    return manifest


def term(key: Any = HOST, selector: Any = None, **more: Any) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": selector, **more}


def preferring(one: Any) -> dict[str, Any]:
    weighted = [{"weight": 100, "podAffinityTerm": one}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def test_pods_that_may_share_a_node_are_refused() -> None:
    assert fires("AVL-03", service(2), config=PRODUCTION)
    assert clean("AVL-03", service(2))


def test_spread_pods_pass() -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(HOST, OWN)]}}
    assert clean("AVL-03", service(2, topologySpreadConstraints=SPREAD), config=PRODUCTION)
    assert clean("AVL-03", service(2, affinity=apart), config=PRODUCTION)
    assert clean("AVL-03", service(1), config=PRODUCTION)
    assert judge("AVL-03", service(2, affinity=UNKNOWN), config=PRODUCTION).unjudged


@pytest.mark.parametrize(
    "fields",
    [
        {"affinity": preferring(term("topology.kubernetes.io/zone", OWN))},
        {"affinity": preferring(term(HOST, {"matchExpressions": [{"key": "app", "operator": "Exists"}]}))},
        {"affinity": preferring(term(HOST, OWN, namespaces=["team-a"]))},
        {"topologySpreadConstraints": [{**SPREAD[0], "topologyKey": "kubernetes.io/os"}, SPREAD[0]]},
        {"topologySpreadConstraints": [{**SPREAD[0], "maxSkew": 5, "whenUnsatisfiable": "ScheduleAnyway"}]},
    ],
)
def test_every_way_to_spread_passes(fields: dict[str, Any]) -> None:
    assert clean("AVL-03", service(2, **fields), config=PRODUCTION)


@pytest.mark.parametrize(
    "fields",
    [
        {"topologySpreadConstraints": []},
        {"topologySpreadConstraints": [{**SPREAD[0], "labelSelector": OTHER}]},
        {"topologySpreadConstraints": [{**SPREAD[0], "labelSelector": None}]},
        {"topologySpreadConstraints": [{**SPREAD[0], "topologyKey": "kubernetes.io/arch"}]},
        {"topologySpreadConstraints": [{**SPREAD[0], "maxSkew": 2}]},
        {"affinity": preferring(term(HOST, OTHER))},
        {"affinity": preferring(term(HOST, OWN, namespaces=["team-b"]))},
        {"affinity": preferring(term("", OWN))},
        {"affinity": {"podAntiAffinity": {}}},
        {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(HOST, OWN)]}}},
    ],
)
def test_what_only_looks_like_spreading_is_refused(fields: dict[str, Any]) -> None:
    assert fires("AVL-03", service(2, **fields), config=PRODUCTION)


@pytest.mark.parametrize(
    "fields",
    [
        {"topologySpreadConstraints": [{**SPREAD[0], "labelSelector": UNKNOWN}]},
        {"topologySpreadConstraints": [{**SPREAD[0], "topologyKey": UNKNOWN}]},
        {"topologySpreadConstraints": UNKNOWN},
        {"affinity": preferring(UNKNOWN)},
    ],
)
def test_unknown_places_are_left_to_the_update(fields: dict[str, Any]) -> None:
    assert judge("AVL-03", service(2, **fields), config=PRODUCTION).unjudged

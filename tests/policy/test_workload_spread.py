"""AVL-03."""

from typing import Any

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import deployment, pod_spec

PRODUCTION = {"productionStacks": ["*"]}


SPREAD = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}]


def service(replicas: Any = 2, kind: str = "Deployment", **spec: Any) -> dict[str, Any]:
    manifest = deployment(pod_spec(**spec), kind=kind)
    if replicas is not None:
        manifest["spec"]["replicas"] = replicas
    return manifest


def test_pods_that_may_share_a_node_are_refused() -> None:
    assert fires("AVL-03", service(2), config=PRODUCTION)
    assert clean("AVL-03", service(2))


def test_spread_pods_pass() -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "x"}]}}
    assert clean("AVL-03", service(2, topologySpreadConstraints=SPREAD), config=PRODUCTION)
    assert clean("AVL-03", service(2, affinity=apart), config=PRODUCTION)
    assert clean("AVL-03", service(1), config=PRODUCTION)
    assert judge("AVL-03", service(2, affinity=UNKNOWN), config=PRODUCTION).unjudged

"""GPU-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec

ROLE, POOL = "lantau.internal/role", "lantau.internal/pool"


def tier(value: Any) -> dict[str, Any]:
    return {"lantau.internal/tier": value}


def affinity(*expressions: dict[str, Any], required: bool = True) -> dict[str, Any]:
    term = {"matchExpressions": list(expressions)}
    if required:
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    preferred = [{"weight": 1, "preference": term}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def expression(key: str, operator: str, *values: Any) -> dict[str, Any]:
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


BAD = [
    pod_spec(nodeSelector={ROLE: "online"}),
    pod_spec(nodeSelector={"kubernetes.io/arch": "amd64", POOL: "online-a100"}),
    pod_spec(nodeSelector={"nvidia.com/gpu.present": "true"}),
    pod_spec(affinity=affinity(expression(ROLE, "In", "business", "offline"))),
    pod_spec(affinity=affinity(expression("nvidia.com/gpu.product", "Exists"))),
    pod_spec(affinity=affinity(expression("nvidia.com/gpu.count", "Gt", "0"))),
    pod_spec(affinity=affinity(expression(ROLE, "In", "online"), required=False)),
]
GOOD = [
    pod_spec(nodeSelector={ROLE: "business"}),
    pod_spec(nodeSelector={"nvidia.com/gpu.present": "false"}),
    pod_spec(affinity=affinity(expression(ROLE, "NotIn", "online", "offline"))),
    pod_spec(affinity=affinity(expression("nvidia.com/gpu.present", "DoesNotExist"))),
    pod_spec(affinity=affinity(expression(ROLE, "In", "data"))),
]


@pytest.mark.parametrize("spec", BAD)
def test_a_pod_outside_the_gpu_tiers_is_refused(spec: dict[str, Any]) -> None:
    assert fires("GPU-03", pod(spec, labels=tier("business")))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("GPU-03", hold(BAD[0]))


@pytest.mark.parametrize("spec", GOOD)
def test_other_nodes_and_exclusions_pass(spec: dict[str, Any]) -> None:
    assert clean("GPU-03", pod(spec, labels=tier("business")))


@pytest.mark.parametrize("spec", BAD)
def test_gpu_tiers_may_select(spec: dict[str, Any]) -> None:
    assert clean("GPU-03", pod(spec, labels=tier("inference")))


def test_an_unknown_selector_is_left_to_the_update() -> None:
    assert judge("GPU-03", pod(pod_spec(nodeSelector={ROLE: UNKNOWN}))).unjudged


def test_pools_are_configured() -> None:
    manifest = pod(pod_spec(nodeSelector={POOL: "cards"}))
    assert clean("GPU-03", manifest)
    assert fires("GPU-03", manifest, config={"gpuPools": ["cards"]})

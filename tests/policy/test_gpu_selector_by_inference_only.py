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


@pytest.mark.parametrize(
    "selector",
    [
        {"node.kubernetes.io/instance-type": "p4d.24xlarge"},
        {"node.kubernetes.io/instance-type": "ecs.gn7i-c8g1.2xlarge"},
        {"beta.kubernetes.io/instance-type": "a2-highgpu-1g"},
        {"node.kubernetes.io/instance-type": "Standard_NC24ads_A100_v4"},
        {"karpenter.k8s.aws/instance-family": "g5"},
        {"cloud.google.com/machine-family": "a3"},
        {"karpenter.k8s.aws/instance-gpu-name": "a100"},
        {"node-role.kubernetes.io/gpu": ""},
        {"beta.amd.com/gpu.family": "AI"},
        {"feature.node.kubernetes.io/pci-0302_10de.present": "true"},
    ],
)
def test_machines_with_gpus_are_known_by_type_and_label(selector: dict[str, str]) -> None:
    assert fires("GPU-03", pod(pod_spec(nodeSelector=selector)))


@pytest.mark.parametrize(
    "selector",
    [
        {"node.kubernetes.io/instance-type": "m6g.large"},
        {"node.kubernetes.io/instance-type": "c7g.xlarge"},
        {"node.kubernetes.io/instance-type": "ecs.g7.2xlarge"},
        {"karpenter.k8s.aws/instance-family": "m6i"},
        {"nvidia.com/gpu.present": "false"},
        {"node-role.kubernetes.io/worker": ""},
    ],
)
def test_machines_without_gpus_pass(selector: dict[str, str]) -> None:
    assert clean("GPU-03", pod(pod_spec(nodeSelector=selector)))


def wanting(key: Any, operator: Any, *values: Any) -> dict[str, Any]:
    expression = {"key": key, "operator": operator, "values": list(values)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return pod_spec(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})


ROLES = "lantau.internal/role"


def test_leaving_out_every_other_role_is_naming_gpu_nodes() -> None:
    assert fires("GPU-03", pod(wanting(ROLES, "NotIn", "business", "data")))
    assert fires("GPU-03", pod(wanting(ROLES, "NotIn", "business", "data", "offline")))
    assert clean("GPU-03", pod(wanting(ROLES, "NotIn", "business", "data", "online", "offline")))
    assert clean("GPU-03", pod(wanting(ROLES, "NotIn", "data")))
    assert clean("GPU-03", pod(wanting("zone", "NotIn", "business", "data")))
    assert fires("GPU-03", pod(wanting(ROLES, "NotIn", "web")), config={"otherRoles": ["web"]})


def test_a_count_of_cards_is_a_wish_for_them_unless_it_is_less_than_one() -> None:
    assert fires("GPU-03", pod(wanting("nvidia.com/gpu.count", "Gt", "0")))
    assert fires("GPU-03", pod(wanting("nvidia.com/gpu.count", "Lt", "4")))
    assert clean("GPU-03", pod(wanting("nvidia.com/gpu.count", "Lt", "1")))
    assert judge("GPU-03", pod(wanting(UNKNOWN, "Gt", "0"))).unjudged


def test_a_label_is_not_believed_in_a_namespace_of_another_tier() -> None:
    spec, labels = pod_spec(nodeSelector={ROLES: "online"}), {"lantau.internal/tier": "inference"}
    assert fires("GPU-03", pod(spec, namespace="lantau-business", labels=labels))
    system = {"lantau.internal/tier": "gpu-system"}
    assert fires("GPU-03", pod(spec, namespace="lantau-vector", labels=system))

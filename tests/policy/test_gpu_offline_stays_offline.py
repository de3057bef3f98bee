"""GPU-06."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import deployment, pod, pod_spec

ROLE, POOL = "lantau.internal/role", "lantau.internal/pool"
BATCH = {"lantau.internal/tier": "batch"}


def tolerating(**toleration: Any) -> dict[str, Any]:
    return pod_spec(tolerations=[toleration])


BAD = [
    pod_spec(nodeSelector={ROLE: "online"}),
    pod_spec(nodeSelector={POOL: "online-a100"}),
    tolerating(key=ROLE, operator="Equal", value="online", effect="NoSchedule"),
    tolerating(key=ROLE, operator="Exists"),
    tolerating(operator="Exists"),
]
GOOD = [
    tolerating(key=ROLE, operator="Equal", value="offline", effect="NoSchedule"),
    pod_spec(nodeSelector={ROLE: "offline"}, tolerations=[{"key": ROLE, "operator": "Exists"}]),
    tolerating(key="nvidia.com/gpu", operator="Exists"),
]


@pytest.mark.parametrize("spec", BAD)
def test_offline_work_on_online_cards_is_refused(spec: dict[str, Any]) -> None:
    assert fires("GPU-06", pod(spec, labels=BATCH))
    manifest = deployment(spec)
    manifest["spec"]["template"]["metadata"]["labels"] |= BATCH
    assert fires("GPU-06", manifest)


@pytest.mark.parametrize("spec", GOOD)
def test_offline_work_on_its_own_cards_passes(spec: dict[str, Any]) -> None:
    assert clean("GPU-06", pod(spec, labels=BATCH))


@pytest.mark.parametrize("spec", BAD)
def test_online_work_passes(spec: dict[str, Any]) -> None:
    assert clean("GPU-06", pod(spec, labels={"lantau.internal/tier": "inference"}))


def test_work_without_a_label_is_offline_by_its_namespace() -> None:
    assert fires("GPU-06", pod(BAD[0], namespace="lantau-batch"))


def test_an_unknown_toleration_is_left_to_the_update() -> None:
    assert judge("GPU-06", pod(tolerating(key=ROLE, value=UNKNOWN), labels=BATCH)).unjudged


def test_roles_are_configured() -> None:
    assert fires("GPU-06", pod(pod_spec(nodeSelector={ROLE: "live"}), labels=BATCH), config={"onlineRoles": ["live"]})


def without(*roles: str) -> dict[str, Any]:
    expression = {"key": ROLE, "operator": "NotIn", "values": list(roles)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return pod_spec(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})


def test_leaving_out_offline_pools_is_asking_for_online_ones() -> None:
    assert fires("GPU-06", pod(without("offline"), labels=BATCH))
    assert clean("GPU-06", pod(without("online"), labels=BATCH))
    assert clean("GPU-06", pod(without("offline", "online"), labels=BATCH))
    assert clean("GPU-06", pod(without("business"), labels=BATCH))


def test_leaving_out_online_pools_makes_any_toleration_harmless() -> None:
    spec = {**without("online"), "tolerations": [{"operator": "Exists"}]}
    assert clean("GPU-06", pod(spec, labels=BATCH))


def test_a_label_makes_no_online_work_of_a_namespace_for_batch() -> None:
    labels = {"lantau.internal/tier": "inference"}
    assert fires("GPU-06", pod(BAD[0], namespace="lantau-batch", labels=labels))
    assert clean("GPU-06", pod(BAD[0], namespace="lantau-inference", labels=labels))

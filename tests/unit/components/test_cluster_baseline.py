"""Namespaces, priorities and quotas that every tier stands on."""

from __future__ import annotations

import pytest

from components.cluster import Baseline, BaselineArgs
from components.cluster.baseline import PRIORITIES
from lantau.labels import (
    NAMESPACE_BATCH,
    NAMESPACE_BUSINESS,
    NAMESPACE_INFERENCE,
    NAMESPACE_VECTOR,
    NAMESPACES,
    PRIORITY_BATCH,
    PRIORITY_ONLINE,
    PRIORITY_STANDARD,
)
from tests.unit.components.recording import Recorded, record

QUOTAS = dict.fromkeys(NAMESPACES, 0) | {NAMESPACE_INFERENCE: 7, NAMESPACE_BATCH: 8}


def recorded(*, protect_data: bool = False, preview: bool = False) -> Recorded:
    return record(lambda: Baseline("baseline", BaselineArgs(QUOTAS, protect_data)), preview=preview)


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_namespace_enforces_restricted_at_a_pinned_version(namespace: str) -> None:
    labels = recorded().kubernetes("Namespace", namespace).inputs["metadata"]["labels"]
    for mode in ("enforce", "audit", "warn"):
        assert labels[f"pod-security.kubernetes.io/{mode}"] == "restricted"
        assert labels[f"pod-security.kubernetes.io/{mode}-version"].startswith("v1.")


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_namespace_is_closed_both_ways_but_for_names(namespace: str) -> None:
    made = recorded()
    deny = made.kubernetes("NetworkPolicy", "default-deny", namespace)
    assert deny.inputs["spec"] == {"podSelector": {"matchLabels": {}}, "policyTypes": ["Ingress", "Egress"]}
    dns = made.kubernetes("NetworkPolicy", "allow-dns", namespace).inputs["spec"]
    assert dns["policyTypes"] == ["Egress"]
    assert [port["port"] for rule in dns["egress"] for port in rule["ports"]] == [53, 53]


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_pod_without_an_account_of_its_own_gets_no_token(namespace: str) -> None:
    account = recorded().kubernetes("ServiceAccountPatch", "default", namespace)
    assert account.inputs["automountServiceAccountToken"] is False


def test_nothing_is_put_into_a_namespace_before_it_exists() -> None:
    made = recorded()
    inside = [each for each in made.resources if each.namespace]
    assert inside
    for each in inside:
        assert made.kubernetes("Namespace", each.namespace).urn in each.depends_on, each.name


def test_cards_are_counted_by_requests_in_every_namespace() -> None:
    made = recorded()
    for namespace, cards in QUOTAS.items():
        hard = made.kubernetes("ResourceQuota", "gpu", namespace).inputs["spec"]["hard"]
        assert hard == {"requests.nvidia.com/gpu": str(cards)}


@pytest.mark.parametrize(
    ("namespace", "allowed"), [(NAMESPACE_INFERENCE, PRIORITY_ONLINE), (NAMESPACE_BATCH, PRIORITY_BATCH)]
)
def test_pods_with_cards_can_have_only_the_priority_of_their_namespace(namespace: str, allowed: str) -> None:
    spec = recorded().kubernetes("ResourceQuota", "other-priorities", namespace).inputs["spec"]
    assert spec["hard"] == {"pods": "0"}
    assert spec["scopeSelector"]["matchExpressions"] == [
        {"scopeName": "PriorityClass", "operator": "NotIn", "values": [allowed]}
    ]


def test_online_preempts_batch_and_batch_preempts_nobody() -> None:
    made = recorded()
    online, standard, batch = (
        made.kubernetes("PriorityClass", name).inputs for name in (PRIORITY_ONLINE, PRIORITY_STANDARD, PRIORITY_BATCH)
    )
    assert online["value"] > standard["value"] > batch["value"] > 0
    assert online["preemptionPolicy"] == "PreemptLowerPriority"
    assert batch["preemptionPolicy"] == "Never"
    assert not any(each["globalDefault"] for each in (online, standard, batch))
    assert all(priority.value <= 1_000_000_000 for priority in PRIORITIES.values())


def test_namespaces_that_hold_data_are_protected_and_the_others_are_not() -> None:
    made = recorded(protect_data=True)
    protected = {each.kubernetes_name for each in made.of_type("kubernetes:core/v1:Namespace") if each.protect}
    assert protected == {NAMESPACE_BUSINESS, NAMESPACE_VECTOR}
    assert not any(each.protect for each in recorded().resources)


def test_everything_is_known_on_an_empty_cluster() -> None:
    assert "UNKNOWN" not in repr([each.inputs for each in recorded(preview=True).resources])


def test_all_children_are_below_the_component_and_outputs_are_registered() -> None:
    made = recorded()
    baseline = made.one("lantau:cluster:Baseline")
    assert {each.parent for each in made.resources if each is not baseline} == {baseline.urn}
    assert made.outputs_registered[baseline.urn] == {"namespaces": list(NAMESPACES), "gpu_quotas": QUOTAS}


def test_a_forgotten_or_unknown_namespace_is_named() -> None:
    with pytest.raises(ValueError, match="no number of cards for lantau-batch"):
        BaselineArgs({name: 0 for name in NAMESPACES if name != NAMESPACE_BATCH}, protect_data=False)
    with pytest.raises(ValueError, match="lantau-btach is no namespace"):
        BaselineArgs(QUOTAS | {"lantau-btach": 0}, protect_data=False)

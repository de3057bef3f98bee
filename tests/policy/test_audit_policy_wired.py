"""AUD-01."""

from typing import Any

import pytest

from tests.policy.audits import CATCH_ALL, HOLDERS, SERVERS, audit_policy, control_plane, flags, kubeadm_list, talos
from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import listed, pod


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_without_a_policy_is_refused(server: Any) -> None:
    assert fires("AUD-01", server(flags(audit_policy_file=None)))
    if server is not talos:
        assert fires("AUD-01", listed(server(flags(audit_policy_file=None))))


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_with_a_policy_passes(server: Any) -> None:
    assert clean("AUD-01", server(flags()))


@pytest.mark.parametrize("hold", HOLDERS)
def test_a_policy_without_rules_is_refused(hold: Any) -> None:
    assert fires("AUD-01", hold(audit_policy()))


def test_a_policy_with_rules_passes() -> None:
    assert clean("AUD-01", audit_policy(CATCH_ALL))


def test_a_control_plane_that_says_nothing_is_refused() -> None:
    manifest = control_plane({})
    del manifest["spec"]["kubeadmConfigSpec"]["clusterConfiguration"]
    assert fires("AUD-01", manifest)


def test_other_pods_pass() -> None:
    assert clean("AUD-01", pod())


def test_an_unknown_flag_is_left_to_the_update() -> None:
    assert judge("AUD-01", kubeadm_list(flags(audit_policy_file=UNKNOWN))).unjudged
    assert judge("AUD-01", control_plane(flags()) | {"spec": UNKNOWN}).clean is False


EKS = "aws:eks/cluster:Cluster"


def crossplane(types: Any) -> dict[str, Any]:
    return {
        "apiVersion": "eks.aws.upbound.io/v1beta1",
        "kind": "Cluster",
        "metadata": {"name": "c"},
        "spec": {"forProvider": {"enabledClusterLogTypes": types}},
    }


@pytest.mark.parametrize("types", [None, [], ["api", "scheduler"]])
def test_a_managed_control_plane_without_its_audit_log_is_refused(types: Any) -> None:
    assert fires("AUD-01", {"name": "c", "enabledClusterLogTypes": types}, token=EKS)
    assert fires("AUD-01", crossplane(types))


def test_a_managed_control_plane_with_its_audit_log_passes() -> None:
    assert clean("AUD-01", {"name": "c", "enabledClusterLogTypes": ["api", "audit"]}, token=EKS)
    assert clean("AUD-01", crossplane(["audit", UNKNOWN]))
    assert clean("AUD-01", {"name": "c"}, token="aws:ecs/cluster:Cluster")


def test_unknown_log_types_and_rules_are_left_to_the_update() -> None:
    assert judge("AUD-01", {"name": "c", "enabledClusterLogTypes": ["api", UNKNOWN]}, token=EKS).unjudged
    outcome = judge("AUD-01", {**audit_policy(), "rules": UNKNOWN})
    assert outcome.unjudged
    assert not outcome.messages

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


def named(kind: str, api: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "c"}, **fields}


def capa(logging: Any) -> dict[str, Any]:
    return named("AWSManagedControlPlane", "controlplane.cluster.x-k8s.io/v1beta2", spec={"logging": logging})


def eksctl(types: Any) -> dict[str, Any]:
    return named("ClusterConfig", "eksctl.io/v1alpha5", cloudWatch={"clusterLogging": {"enableTypes": types}})


def ack(*groups: Any) -> dict[str, Any]:
    return named("Cluster", "eks.services.k8s.aws/v1alpha1", spec={"logging": {"clusterLogging": list(groups)}})


def openshift(**audit: Any) -> dict[str, Any]:
    return named("APIServer", "config.openshift.io/v1", spec={"audit": audit})


@pytest.mark.parametrize(
    "manifest",
    [
        capa({"audit": False, "apiServer": True}),
        capa(None),
        eksctl(["api"]),
        eksctl(None),
        ack({"enabled": True, "types": ["api"]}),
        ack({"enabled": False, "types": ["audit"]}),
        openshift(profile="None"),
        named("Cluster", "kops.k8s.io/v1alpha2", spec={"networking": {}}),
        named("Cluster", "kops.k8s.io/v1alpha2", spec={"kubeAPIServer": {"anonymousAuth": False}}),
    ],
)
def test_every_kind_of_managed_control_plane_is_judged(manifest: dict[str, Any]) -> None:
    assert fires("AUD-01", manifest)
    assert fires("AUD-01", listed(manifest))


@pytest.mark.parametrize(
    "manifest",
    [
        capa({"audit": True}),
        eksctl(["audit", "api"]),
        eksctl(["*"]),
        eksctl(["all"]),
        ack({"enabled": True, "types": ["api"]}, {"enabled": True, "types": ["audit"]}),
        openshift(profile="Default"),
        openshift(),
        named("Cluster", "cluster.x-k8s.io/v1beta1", spec={}),
        named("Shoot", "core.gardener.cloud/v1beta1", spec={"kubernetes": {"kubeAPIServer": {"auditConfig": {}}}}),
        {**capa(None), "kind": "AWSManagedControlPlanePatch"},
        named("ClusterPatch", "kops.k8s.io/v1alpha2", spec={"channel": "stable"}),
    ],
)
def test_managed_control_planes_with_an_audit_log_pass(manifest: dict[str, Any]) -> None:
    assert clean("AUD-01", manifest)


@pytest.mark.parametrize(
    "manifest",
    [
        capa(UNKNOWN),
        eksctl(UNKNOWN),
        ack(UNKNOWN),
        ack({"enabled": UNKNOWN, "types": ["audit"]}),
        openshift(profile=UNKNOWN),
        named("Cluster", "kops.k8s.io/v1alpha2", spec={"kubeAPIServer": UNKNOWN}),
    ],
)
def test_unknown_switches_are_left_to_the_update(manifest: dict[str, Any]) -> None:
    outcome = judge("AUD-01", manifest)
    assert outcome.unjudged
    assert not outcome.messages


@pytest.mark.parametrize(
    ("token", "field"),
    [
        ("alicloud:cs/managedKubernetes:ManagedKubernetes", "auditLogConfig"),
        ("tencentcloud:Kubernetes/cluster:Cluster", "clusterAudit"),
    ],
)
def test_switches_of_the_clouds_are_judged(token: str, field: str) -> None:
    assert fires("AUD-01", {"name": "c"}, token=token)
    assert fires("AUD-01", {"name": "c", field: {"enabled": False}}, token=token)
    assert clean("AUD-01", {"name": "c", field: {"enabled": True}}, token=token)
    assert judge("AUD-01", {"name": "c", field: UNKNOWN}, token=token).unjudged


def test_pulumis_own_eks_cluster_is_judged() -> None:
    assert fires("AUD-01", {"name": "c", "enabledClusterLogTypes": ["api"]}, token="eks:index:Cluster")
    assert clean("AUD-01", {"name": "c", "enabledClusterLogTypes": ["audit"]}, token="eks:index:Cluster")


def test_a_policy_deep_inside_a_text_is_found() -> None:
    text = "cluster:\n  apiServer:\n    auditPolicy: {apiVersion: audit.k8s.io/v1, kind: Policy, rules: []}\n"
    config = named("TalosConfigTemplate", "bootstrap.cluster.x-k8s.io/v1alpha3", spec={"strategicPatches": [text]})
    assert fires("AUD-01", config)

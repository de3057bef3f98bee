"""AUD-09."""

from typing import Any

import pytest

from tests.policy.audits import SERVERS, flags, kubeadm_map
from tests.policy.harness import UNKNOWN, clean, fires, judge


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("days", ["7", "29", "0", None, "soon"])
def test_a_log_that_is_thrown_away_early_is_refused(server: Any, days: Any) -> None:
    assert fires("AUD-09", server(flags(audit_log_maxage=days)))


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("days", ["30", "90", "365"])
def test_a_log_that_is_kept_passes(server: Any, days: str) -> None:
    assert clean("AUD-09", server(flags(audit_log_maxage=days)))


def test_without_a_file_there_is_nothing_to_keep() -> None:
    assert clean("AUD-09", kubeadm_map(flags(audit_log_path=None, audit_log_maxage=None)))
    assert clean("AUD-09", kubeadm_map(flags(audit_log_path="-", audit_log_maxage=None)))


def test_the_days_are_configured() -> None:
    assert fires("AUD-09", kubeadm_map(flags(audit_log_maxage="89")), config={"minAuditDays": 90.0})


def test_an_unknown_age_is_left_to_the_update() -> None:
    assert judge("AUD-09", kubeadm_map(flags(audit_log_maxage=UNKNOWN))).unjudged


MAP = {"audit-log-path": "/var/log/audit.log", "audit-log-maxage": "7"}


def patch_of(path: str, value: Any) -> dict[str, Any]:
    """A ClusterClass with one JSON patch."""
    patches = [{"definitions": [{"jsonPatches": [{"op": "add", "path": path, "value": value}]}]}]
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "ClusterClass",
        "metadata": {"name": "c"},
        "spec": {"patches": patches},
    }


ARGUMENTS = "/spec/template/spec/kubeadmConfigSpec/clusterConfiguration/apiServer"


@pytest.mark.parametrize(
    "patch",
    [
        patch_of(f"{ARGUMENTS}/extraArgs", MAP),
        patch_of(f"{ARGUMENTS}/extraArgs", [{"name": name, "value": value} for name, value in MAP.items()]),
        patch_of(f"{ARGUMENTS}", {"extraArgs": MAP}),
        patch_of(f"{ARGUMENTS}/extraArgs/audit-log-maxage", "7"),
        patch_of(f"{ARGUMENTS}/extraArgs/-", {"name": "audit-log-maxage", "value": "7"}),
    ],
)
def test_a_patch_is_judged_by_what_it_sets(patch: dict[str, Any]) -> None:
    assert fires("AUD-09", patch)
    for control in ("AUD-01", "AUD-10"):
        assert clean(control, patch)


def test_a_patch_of_something_else_passes() -> None:
    for control in ("AUD-01", "AUD-08", "AUD-09", "AUD-10"):
        assert clean(control, patch_of(f"{ARGUMENTS}/extraArgs/admission-control-config-file", "/etc/a.yaml"))


@pytest.mark.parametrize(
    "text",
    [
        "kind: ClusterConfiguration\napiServer:\n  extraArgs:\n    audit-log-path: /a\n    audit-log-maxage: '7'\n",
        "- op: add\n  path: /apiServer/extraArgs/audit-log-maxage\n  value: '7'\n",
        "cluster:\n  apiServer:\n    extraArgs: {audit-log-path: /a, audit-log-maxage: '7'}\n",
    ],
)
def test_a_patch_in_a_text_is_read(text: str) -> None:
    manifest = {"apiVersion": "kind.x-k8s.io/v1alpha4", "kind": "Cluster", "nodes": [{"kubeadmConfigPatches": [text]}]}
    assert fires("AUD-09", manifest)


def test_a_list_that_adds_to_other_files_is_judged_by_what_it_adds() -> None:
    short = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "k3s"}}
    text = "kube-apiserver-arg+:\n- audit-log-maxage=7\n- audit-log-path=/var/log/audit.log\n"
    assert fires("AUD-09", {**short, "data": {"10-audit.yaml": text}})
    assert clean("AUD-01", {**short, "data": {"10-audit.yaml": text}})


def chart(**values: Any) -> dict[str, Any]:
    """A Helm release of Flux with these values."""
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": "r"},
        "spec": {"values": values},
    }


def test_values_of_a_chart_count_when_the_flags_are_the_servers() -> None:
    assert fires("AUD-09", chart(apiServer={"extraArgs": [f"{name}={value}" for name, value in MAP.items()]}))
    for key in ("apiServer", "api"):
        for control in ("AUD-01", "AUD-08", "AUD-09"):
            assert clean(control, chart(**{key: {"extraArgs": ["--log-level=debug"]}}))


def test_kamaji_and_k0s_are_read() -> None:
    words = [f"--{name}={value}" for name, value in MAP.items()]
    tenant = {"apiVersion": "kamaji.clastix.io/v1alpha1", "kind": "TenantControlPlane", "metadata": {"name": "t"}}
    assert fires("AUD-09", {**tenant, "spec": {"controlPlane": {"deployment": {"extraArgs": {"apiServer": words}}}}})
    k0s = {"apiVersion": "k0s.k0sproject.io/v1beta1", "kind": "ClusterConfig", "metadata": {"name": "k"}}
    assert fires("AUD-09", {**k0s, "spec": {"api": {"extraArgs": MAP}}})

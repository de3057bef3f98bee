"""Audit policy and API-server flags, as files and in the cluster."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from ruamel.yaml import YAML

from components.audit import AuditTrail, AuditTrailArgs
from lantau.audit import render_audit_policy
from lantau.audit.flags import (
    K3S,
    KUBEADM,
    RKE2,
    AuditPaths,
    audit_flags,
    installation_files,
    k3s_file,
    kubeadm_file,
    policy_file,
    policy_sha256,
    rke2_file,
)
from tests.unit.components.recording import Recorded, record


def read(text: str) -> Any:
    return YAML(typ="safe").load(text)


def flags_of(arguments: list[str]) -> dict[str, str]:
    return dict(argument.split("=", 1) for argument in arguments)


def recorded(args: AuditTrailArgs) -> Recorded:
    return record(lambda: AuditTrail("audit", args), preview=True)


@pytest.mark.parametrize("paths", [KUBEADM, RKE2, K3S])
def test_flags_hold_what_cis_asks_for_and_ninety_days(paths: AuditPaths) -> None:
    flags = audit_flags(paths)
    assert flags["audit-policy-file"] == paths.policy
    assert flags["audit-log-path"] == paths.log
    assert int(flags["audit-log-maxage"]) >= 90
    assert int(flags["audit-log-maxbackup"]) >= 10
    assert int(flags["audit-log-maxsize"]) >= 100
    assert flags["audit-log-mode"] == "blocking", "a batch drops events when there are many"


def test_fewer_days_than_promised_are_refused() -> None:
    with pytest.raises(ValueError, match="hot_days: 30 is too few"):
        audit_flags(KUBEADM, 30)
    assert audit_flags(KUBEADM, 120)["audit-log-maxage"] == "120"


def test_kubeadm_gets_flags_and_the_mounts_they_need() -> None:
    server = read(kubeadm_file())["apiServer"]
    flags = {argument["name"]: argument["value"] for argument in server["extraArgs"]}
    assert flags == audit_flags(KUBEADM)
    mounts = {volume["mountPath"]: volume["readOnly"] for volume in server["extraVolumes"]}
    assert mounts == {KUBEADM.policy: True, KUBEADM.log.rpartition("/")[0]: False}


def test_rke2_and_k3s_add_to_the_arguments_of_other_files() -> None:
    rke2, k3s = read(rke2_file()), read(k3s_file())
    assert {"audit-policy-file": rke2["audit-policy-file"], **flags_of(rke2["kube-apiserver-arg+"])} == audit_flags(
        RKE2
    )
    assert flags_of(k3s["kube-apiserver-arg+"]) == audit_flags(K3S)


def test_the_policy_file_says_what_the_policy_says() -> None:
    assert read(policy_file()) == render_audit_policy()
    assert policy_sha256() == hashlib.sha256(policy_file().encode()).hexdigest()


def test_the_files_are_kept_in_an_immutable_object_named_by_content() -> None:
    made = recorded(AuditTrailArgs())
    (found,) = made.of_type("kubernetes:core/v1:ConfigMap")
    assert found.namespace == "lantau-system"
    assert found.inputs["immutable"] is True
    assert found.inputs["data"] == installation_files()
    assert found.kubernetes_name == made.result.config_map_name
    other = recorded(AuditTrailArgs(hot_days=120))
    assert other.result.config_map_name != made.result.config_map_name
    assert other.result.policy_sha256 == made.result.policy_sha256


def test_the_digest_of_the_policy_is_an_output() -> None:
    made = recorded(AuditTrailArgs())
    outputs = made.outputs_registered[made.one("lantau:audit:AuditTrail").urn]
    assert outputs == {"policy_sha256": policy_sha256(), "config_map": made.result.config_map_name}

"""The audit flags of the API server and the files that set them, for the three ways such clusters are installed."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ruamel.yaml import YAML

from lantau.audit.policy import render_audit_policy

HOT_DAYS: Final = 90
"""Days that events stay on the control-plane node; CIS 1.2.17 asks for 30, the archive keeps 365 and more."""
ROTATED_FILES: Final = 100
"""Rotated log files kept; CIS 1.2.18 asks for 10."""
FILE_MEGABYTES: Final = 200
"""Size at which a log file is rotated; CIS 1.2.19 asks for 100. With ROTATED_FILES up to 20 GB before compression: on a
busy cluster the size, not the age, decides what is still there."""


@dataclass(frozen=True)
class AuditPaths:
    """Where policy and log lie on a control-plane node."""

    policy: str
    log: str


KUBEADM: Final = AuditPaths("/etc/kubernetes/audit/policy.yaml", "/var/log/kubernetes/audit/audit.log")
RKE2: Final = AuditPaths("/etc/rancher/rke2/audit-policy.yaml", "/var/lib/rancher/rke2/server/logs/audit.log")
K3S: Final = AuditPaths("/etc/rancher/k3s/audit-policy.yaml", "/var/lib/rancher/k3s/server/logs/audit.log")


def audit_flags(paths: AuditPaths, hot_days: int = HOT_DAYS) -> dict[str, str]:
    """Flags of the API server by name, without dashes. Raises ValueError for less than HOT_DAYS days."""
    if hot_days < HOT_DAYS:
        raise ValueError(f"hot_days: {hot_days} is too few; events stay at hand for at least {HOT_DAYS} days")
    return {
        "audit-policy-file": paths.policy,
        "audit-log-path": paths.log,
        "audit-log-format": "json",
        # Written before the request is answered: no event is dropped when there are many.
        "audit-log-mode": "blocking",
        "audit-log-maxage": str(hot_days),
        "audit-log-maxbackup": str(ROTATED_FILES),
        "audit-log-maxsize": str(FILE_MEGABYTES),
        "audit-log-compress": "true",
    }


def policy_file() -> str:
    """The audit policy as the file that lies on every control-plane node."""
    return _yaml("Audit policy of the API server. A cluster is verified against this very text.", render_audit_policy())


def policy_sha256() -> str:
    """SHA-256 of `policy_file()` in hexadecimal digits, as `sha256sum` on the node prints it."""
    return hashlib.sha256(policy_file().encode()).hexdigest()


def kubeadm_file(hot_days: int = HOT_DAYS) -> str:
    """Part of kubeadm's ClusterConfiguration: flags, and the mounts without which a static pod sees neither file."""
    log_folder = KUBEADM.log.rpartition("/")[0]
    body = {
        "apiVersion": "kubeadm.k8s.io/v1beta4",
        "kind": "ClusterConfiguration",
        "apiServer": {
            "extraArgs": [{"name": name, "value": value} for name, value in audit_flags(KUBEADM, hot_days).items()],
            "extraVolumes": [
                _mount("audit-policy", KUBEADM.policy, "File", read_only=True),
                _mount("audit-log", log_folder, "DirectoryOrCreate", read_only=False),
            ],
        },
    }
    return _yaml(f"Merge into kubeadm's configuration; the policy goes to {KUBEADM.policy}.", body)


def rke2_file(hot_days: int = HOT_DAYS) -> str:
    """Drop-in of RKE2's server, which mounts what its flags name by itself."""
    flags = audit_flags(RKE2, hot_days)
    body = {"audit-policy-file": flags.pop("audit-policy-file"), **_appended(flags)}
    return _yaml(f"/etc/rancher/rke2/config.yaml.d/50-lantau-audit.yaml; the policy goes to {RKE2.policy}.", body)


def k3s_file(hot_days: int = HOT_DAYS) -> str:
    """Drop-in of k3s' server."""
    body = _appended(audit_flags(K3S, hot_days))
    return _yaml(f"/etc/rancher/k3s/config.yaml.d/50-lantau-audit.yaml; the policy goes to {K3S.policy}.", body)


def installation_files(hot_days: int = HOT_DAYS) -> dict[str, str]:
    """Every file by name: the policy, and for each installer what makes the API server obey it."""
    return {
        "policy.yaml": policy_file(),
        "kubeadm.yaml": kubeadm_file(hot_days),
        "rke2.yaml": rke2_file(hot_days),
        "k3s.yaml": k3s_file(hot_days),
    }


def _mount(name: str, path: str, kind: str, *, read_only: bool) -> dict[str, Any]:
    return {"name": name, "hostPath": path, "mountPath": path, "pathType": kind, "readOnly": read_only}


def _appended(flags: Mapping[str, str]) -> dict[str, list[str]]:
    # The plus sign adds to the arguments of other files; without it these would replace them.
    return {"kube-apiserver-arg+": [f"{name}={value}" for name, value in flags.items()]}


def _yaml(comment: str, body: Mapping[str, Any]) -> str:
    yaml = YAML()
    yaml.width = 120
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = io.StringIO()
    yaml.dump(dict(body), text)
    return f"# {comment}\n{text.getvalue()}"

"""Audit policies and API servers for the tests of the audit rules."""

from typing import Any

import yaml  # type: ignore[import-untyped]

CORE = {"group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"]}
SENSITIVE = {
    "level": "Metadata",
    "resources": [CORE, {"group": "authentication.k8s.io", "resources": ["tokenreviews"]}],
}
CATCH_ALL = {"level": "Metadata"}


def audit_policy(*rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An audit policy as an object."""
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": list(rules), **more}


def in_config_map(policy: dict[str, Any]) -> dict[str, Any]:
    """The same as text in a ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "audit"},
        "data": {"audit-policy.yaml": yaml.safe_dump(policy)},
    }


def in_control_plane(policy: dict[str, Any]) -> dict[str, Any]:
    """The same as a file of a KubeadmControlPlane."""
    return {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1",
        "kind": "KubeadmControlPlane",
        "metadata": {"name": "cp"},
        "spec": {"kubeadmConfigSpec": {"files": [{"path": "/etc/audit.yaml", "content": yaml.safe_dump(policy)}]}},
    }


def in_script(policy: dict[str, Any]) -> dict[str, Any]:
    """The same in a here-document of a script."""
    script = f"#!/bin/sh\ncat > /etc/audit.yaml <<'EOF'\n{yaml.safe_dump(policy)}EOF\nexec true\n"
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "boot"}, "data": {"boot.sh": script}}


HOLDERS = [lambda policy: policy, in_config_map, in_control_plane, in_script]

GOOD_FLAGS = {
    "audit-policy-file": "/etc/kubernetes/audit.yaml",
    "audit-log-path": "/var/log/kubernetes/audit.log",
    "audit-log-maxage": "90",
    "audit-log-maxbackup": "10",
    "audit-log-maxsize": "100",
}


def server_pod(flags: dict[str, Any]) -> dict[str, Any]:
    """A static pod with the flags in its command."""
    words = ["kube-apiserver", *(f"--{name}={value}" for name, value in flags.items())]
    return _pod(command=words)


def server_args(flags: dict[str, Any]) -> dict[str, Any]:
    """Full binary path, flags and values as separate words in args."""
    words = [word for name, value in flags.items() for word in (f"--{name}", str(value))]
    return _pod(command=["/usr/local/bin/kube-apiserver"], args=words)


def server_image(flags: dict[str, Any]) -> dict[str, Any]:
    """No command at all: the image's own entry point."""
    return _pod(image="registry.k8s.io/kube-apiserver:v1.36.3", args=[f"--{k}={v}" for k, v in flags.items()])


def server_shell(flags: dict[str, Any]) -> dict[str, Any]:
    """One line for a shell."""
    line = " ".join(["exec /bin/kube-apiserver", *(f"--{k}={v}" for k, v in flags.items())])
    return _pod(command=["sh", "-c", line])


def _pod(**container: Any) -> dict[str, Any]:
    body = {"name": "server", "image": "server", **container}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "server"}, "spec": {"containers": [body]}}


def kubeadm_map(flags: dict[str, Any]) -> dict[str, Any]:
    """kubeadm's v1beta3."""
    return {
        "apiVersion": "kubeadm.k8s.io/v1beta3",
        "kind": "ClusterConfiguration",
        "apiServer": {"extraArgs": dict(flags)},
        "spec": {},
    }


def kubeadm_list(flags: dict[str, Any]) -> dict[str, Any]:
    """kubeadm's v1beta4."""
    listed = [{"name": name, "value": value} for name, value in flags.items()]
    return {**kubeadm_map({}), "apiVersion": "kubeadm.k8s.io/v1beta4", "apiServer": {"extraArgs": listed}}


def control_plane(flags: dict[str, Any]) -> dict[str, Any]:
    """Cluster API."""
    return {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1",
        "kind": "KubeadmControlPlane",
        "metadata": {"name": "cp"},
        "spec": {"kubeadmConfigSpec": {"clusterConfiguration": {"apiServer": {"extraArgs": dict(flags)}}}},
    }


def rke2(flags: dict[str, Any]) -> dict[str, Any]:
    """RKE2's or k3s' configuration file in a ConfigMap."""
    text = yaml.safe_dump({"kube-apiserver-arg": [f"{name}={value}" for name, value in flags.items()]})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "rke2"}, "data": {"config.yaml": text}}


def kubeadm_config_map(flags: dict[str, Any]) -> dict[str, Any]:
    """kubeadm's own ConfigMap."""
    text = yaml.safe_dump({k: v for k, v in kubeadm_map(flags).items() if k != "spec"})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kubeadm-config"},
        "data": {"ClusterConfiguration": text},
    }


def kops(flags: dict[str, Any]) -> dict[str, Any]:
    """kops, which writes flags as fields."""
    names = {
        "audit-policy-file": "auditPolicyFile",
        "audit-log-path": "auditLogPath",
        "audit-log-maxage": "auditLogMaxAge",
        "audit-log-maxbackup": "auditLogMaxBackups",
        "audit-log-maxsize": "auditLogMaxSize",
        "audit-webhook-config-file": "auditWebhookConfigFile",
    }
    fields = {names[flag]: value for flag, value in flags.items()}
    return {
        "apiVersion": "kops.k8s.io/v1alpha2",
        "kind": "Cluster",
        "metadata": {"name": "c"},
        "spec": {"kubeAPIServer": fields},
    }


def systemd(flags: dict[str, Any]) -> dict[str, Any]:
    """A unit file that a node's bootstrap writes."""
    words = " \\\n  ".join(["/usr/local/bin/kube-apiserver", *(f"--{k}={v}" for k, v in flags.items())])
    unit = f"[Service]\nExecStart={words}\nRestart=always\n"
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "boot"}, "data": {"api.service": unit}}


def talos(flags: dict[str, Any]) -> dict[str, Any]:
    """Talos' machine configuration."""
    return {"version": "v1alpha1", "cluster": {"apiServer": {"extraArgs": dict(flags)}}}


SERVERS = [
    server_pod,
    server_args,
    server_image,
    server_shell,
    kubeadm_map,
    kubeadm_list,
    control_plane,
    rke2,
    kubeadm_config_map,
    kops,
    systemd,
    talos,
]


def flags(**changes: Any) -> dict[str, Any]:
    """Good flags with changes; None removes a flag. Underscores stand for dashes."""
    merged = GOOD_FLAGS | {name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in merged.items() if value is not None}

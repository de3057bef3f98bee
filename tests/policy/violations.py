"""One small program for each control that breaks it and nothing depends on its neighbours."""

from typing import Any

from tests.policy.audits import CATCH_ALL, SENSITIVE, audit_policy, flags, kubeadm_map
from tests.policy.harness import token_of
from tests.policy.manifests import binding, container, deployment, grant, pod, pod_spec, role
from tests.policy.networks import namespace, net_policy
from tests.policy.samples import WORD, some

Manifest = dict[str, Any]
LABEL = "rbac.authorization.k8s.io/aggregate-to-"


def _context(**context: Any) -> Manifest:
    return pod(pod_spec(containers=[container(securityContext={**container()["securityContext"], **context})]))


def _container(**fields: Any) -> Manifest:
    return pod(pod_spec(containers=[container(**fields)]))


def _named(kind: str, api: str, name: str = "bad", **fields: Any) -> Manifest:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "bad"}, **fields}


def _token_volume() -> Manifest:
    source = {"serviceAccountToken": {"path": "t", "expirationSeconds": 86400}}
    return pod(pod_spec(volumes=[{"name": "t", "projected": {"sources": [source]}}]))


def _service(replicas: int) -> Manifest:
    manifest = deployment(kind="StatefulSet")
    manifest["spec"] |= {"replicas": replicas, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]}
    manifest["metadata"]["namespace"] = "alone"
    return manifest


BATCH = {"lantau.internal/tier": "batch"}
CLIENT = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "audit", "cluster": {"server": "http://audit.example.com"}}],
}

VIOLATIONS: dict[str, Manifest] = {
    "AUD-01": kubeadm_map(flags(audit_policy_file=None)),
    "AUD-02": audit_policy({"level": "RequestResponse"}),
    "AUD-03": audit_policy({"level": "None"}, CATCH_ALL),
    "AUD-04": audit_policy(SENSITIVE),
    "AUD-05": audit_policy({"level": "None", "resources": [{"group": "", "resources": ["pods/exec"]}]}, CATCH_ALL),
    "AUD-06": audit_policy(CATCH_ALL, omitStages=["ResponseComplete"]),
    "AUD-07": audit_policy({"level": "None", "userGroups": ["system:masters"]}, CATCH_ALL),
    "AUD-08": kubeadm_map(flags(audit_log_path=None)),
    "AUD-09": kubeadm_map(flags(audit_log_maxage="7")),
    "AUD-10": kubeadm_map(flags(audit_log_maxbackup="2")),
    "AUD-11": CLIENT,
    "AUD-12": _named("StorageClass", "storage.k8s.io/v1", "audit-archive", reclaimPolicy="Delete"),
    "AUD-13": role(grant("", "events", "delete")),
    "RBAC-01": role(grant("apps", "deployments", "*")),
    "RBAC-02": role(grant("apps", "*", "get")),
    "RBAC-03": role(grant("*", "deployments", "get")),
    "RBAC-04": role({"nonResourceURLs": ["*"], "verbs": ["get"]}, kind="ClusterRole"),
    "RBAC-05": role(grant("", "secrets", "list")),
    "RBAC-06": role(grant("rbac.authorization.k8s.io", "clusterroles", "bind")),
    "RBAC-07": role(grant("", "users", "impersonate")),
    "RBAC-08": role(grant("", "nodes/proxy", "get")),
    "RBAC-09": role(grant("", "pods/exec", "create")),
    "RBAC-10": role(grant("", "serviceaccounts/token", "create")),
    "RBAC-11": role(grant("certificates.k8s.io", "signers", "approve")),
    "RBAC-12": role(grant("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "patch")),
    "RBAC-13": _named("ClusterRole", "rbac.authorization.k8s.io/v1", rules=[grant("x.io", "xs", "patch")])
    | {"metadata": {"name": "added", "labels": {f"{LABEL}view": "true"}}},
    "RBAC-14": binding("cluster-admin"),
    "RBAC-15": binding("view", {"kind": "Group", "name": "system:masters"}),
    "RBAC-16": binding("view", {"kind": "ServiceAccount", "name": "default", "namespace": "team-a"}),
    "RBAC-17": binding("edit", kind="ClusterRoleBinding"),
    "RBAC-18": role(grant("batch", "jobs", "create"), kind="ClusterRole", name="maker"),
    "RBAC-19": role(grant("", "persistentvolumes", "create")),
    "RBAC-20": role(grant("", "namespaces", "patch")),
    "RBAC-21": role(grant("rbac.authorization.k8s.io", "rolebindings", "create")),
    "SA-01": pod(pod_spec(serviceAccountName="default")),
    "SA-02": pod(pod_spec(automountServiceAccountToken=True)),
    "SA-03": _named("Secret", "v1", type="kubernetes.io/service-account-token"),
    "SA-04": _token_volume(),
    "NET-01": namespace("open"),
    "NET-02": net_policy(ingress=[{}]),
    "NET-03": net_policy(egress=[{}]),
    "NET-04": net_policy(egress=[{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]),
    "NET-05": net_policy(ingress=[{"from": [{"namespaceSelector": {}}]}]),
    "NET-06": net_policy(egress=[{"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}]}]),
    "NET-07": pod(namespace="lonely"),
    "PSS-01": _context(privileged=True),
    "PSS-02": pod(pod_spec(hostNetwork=True)),
    "PSS-03": pod(pod_spec(volumes=[{"name": "x", "hostPath": {"path": "/"}}])),
    "PSS-04": _container(ports=[{"containerPort": 80, "hostPort": 80}]),
    "PSS-05": _context(allowPrivilegeEscalation=True),
    "PSS-06": _context(capabilities={"drop": ["ALL"], "add": ["SYS_ADMIN"]}),
    "PSS-07": _context(runAsNonRoot=False),
    "PSS-08": _context(runAsUser=0),
    "PSS-09": _context(seccompProfile={"type": "Unconfined"}),
    "PSS-10": _context(appArmorProfile={"type": "Unconfined"}),
    "PSS-11": _context(seLinuxOptions={"type": "spc_t"}),
    "PSS-12": _context(procMount="Unmasked"),
    "PSS-13": pod(pod_spec(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]})),
    "PSS-14": pod(pod_spec(volumes=[{"name": "x", "nfs": {"server": "x", "path": "/"}}])),
    "PSS-15": _context(windowsOptions={"hostProcess": True}),
    "PSS-16": _container(livenessProbe={"tcpSocket": {"host": "10.0.0.1", "port": 80}}),
    "PSS-17": namespace("baseline", **{"pod-security.kubernetes.io/enforce": "baseline"}),
    "POD-01": _context(readOnlyRootFilesystem=False),
    "POD-02": pod(namespace="default"),
    "GPU-01": pod(pod_spec(tolerations=[{"operator": "Exists"}])),
    "GPU-02": _container(resources={"limits": {"nvidia.com/gpu": 1}}),
    "GPU-03": pod(pod_spec(nodeSelector={"lantau.internal/role": "online"})),
    "GPU-04": pod(pod_spec(nodeName="gpu-a100-1")),
    "GPU-05": _container(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]),
    "GPU-06": pod(pod_spec(nodeSelector={"lantau.internal/role": "online"}), labels=BATCH),
    "KEY-01": _container(env=[{"name": "DB_PASSWORD", "value": WORD}]),
    "KEY-02": _named("ConfigMap", "v1", data={"app.ini": f"[db]\npassword = {WORD}\n"}),
    "KEY-03": _container(args=["--password", WORD]),
    "KEY-04": pod(annotations={"example.com/api-key": some(32)}),
    "KEY-05": _named("Secret", "v1", stringData={"password": WORD}),
    "KEY-06": _container(readinessProbe={"httpGet": {"httpHeaders": [{"name": "X-Api-Key", "value": some(32)}]}}),
    "KEY-07": _named("StorageClass", "storage.k8s.io/v1", reclaimPolicy="Retain", parameters={"akSecret": some(30)}),
    "KEY-08": _container(image=f"https://user:{WORD}@registry.example.com/app"),
    "KEY-09": _named("Thing", "example.com/v1", spec={"auth": {"password": WORD}}),
    "SUP-01": _container(image="app:latest"),
    "SUP-02": _container(image="docker.io/library/nginx"),
    "SUP-03": {"chart": "redis"},
    "AVL-01": _service(1),
    "AVL-02": _service(2),
    "AVL-03": _service(2),
    "DAT-01": _named("PersistentVolumeClaim", "v1"),
    "DAT-02": _named("PersistentVolume", "v1", spec={"persistentVolumeReclaimPolicy": "Delete"}),
    "DAT-03": _service(2),
}

SETTINGS = {
    "productionStacks": ["*"],
    "registries": ["registry.example.com"],
    "exceptions": [
        {"rule": "SA-01", "resource": "Pod/gone", "reason": "tests", "expires": "2020-01-01"},
        {"rule": "SA-01", "resource": "Pod/none", "reason": "tests", "expires": "2999-01-01"},
    ],
}
"""Settings under which every program above breaks its rule, and two rules about exceptions are broken too."""


def token(control: str) -> str:
    """Type token of a control's program."""
    return "kubernetes:helm.sh/v3:Release" if control == "SUP-03" else token_of(VIOLATIONS[control])

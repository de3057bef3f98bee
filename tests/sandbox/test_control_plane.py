"""The control plane of the sandbox, asked as its users ask it: through the API server, with real controllers behind."""

import json
import subprocess
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import httpx
import pytest

from sandbox.cluster import DEFAULT_NODES, Sandbox

Kubectl = Callable[..., str]
Eventually = Callable[..., None]

RESTRICTED: dict[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER: dict[str, Any] = {
    "name": "main",
    "image": "example.invalid/main@sha256:" + "0" * 64,
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
}


@pytest.fixture
def space(kubectl: Kubectl) -> Iterator[str]:
    """A namespace of its own under Pod Security `restricted`."""
    name = f"space-{uuid.uuid4().hex[:8]}"
    kubectl("create", "namespace", name)
    kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


def pod(name: str, gpus: int = 0, **spec: Any) -> dict[str, Any]:
    container = CONTAINER | ({"resources": {"limits": {"nvidia.com/gpu": gpus}}} if gpus else {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"securityContext": RESTRICTED, "containers": [container], **spec},
    }


def template(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    body = pod("unnamed", **spec)["spec"]
    return {"metadata": {"labels": {"app": "x"}, "annotations": annotations or {}}, "spec": body}


def apply(kubectl: Kubectl, space: str, body: dict[str, Any]) -> None:
    kubectl("apply", "-n", space, "-f", "-", stdin=json.dumps(body))


def phase(kubectl: Kubectl, space: str, name: str) -> str:
    return kubectl("get", "pod", name, "-n", space, "--ignore-not-found", "-o", "jsonpath={.status.phase}")


def audited(sandbox: Sandbox, **wanted: str) -> list[dict[str, Any]]:
    """The audit events whose verb, resource, subresource, name, namespace and user are as wanted."""
    found = []
    for line in sandbox.audit_log.read_text().splitlines():
        event = json.loads(line)
        reference = event.get("objectRef") or {}
        seen = {**reference, "verb": event["verb"], "user": event["user"].get("username", "")}
        if all(seen.get(key) == value for key, value in wanted.items()):
            found.append(event)
    return found


def test_every_process_runs_and_together_they_need_less_than_3_gib(sandbox: Sandbox) -> None:
    status = sandbox.status()
    assert status.running
    assert {node.name for node in status.nodes if node.ready} == {node.name for node in DEFAULT_NODES}
    assert status.families == ("envoy-gateway", "external-secrets", "gateway-api", "prometheus-operator")
    assert status.rss < 3 << 30


def test_gpu_nodes_are_labelled_as_feature_discovery_labels_them_and_bear_nothing_of_lantau(kubectl: Kubectl) -> None:
    nodes = json.loads(kubectl("get", "nodes", "-o", "json"))["items"]
    for node in nodes:
        labels = node["metadata"]["labels"]
        assert not [key for key in labels if key.startswith("lantau.internal/")]
        assert not node["spec"].get("taints")
        gpu = node["metadata"]["name"].startswith("gpu-")
        assert (labels.get("nvidia.com/gpu.present") == "true") is gpu
        assert node["status"]["allocatable"].get("nvidia.com/gpu", "0") == ("8" if gpu else "0")
    a100 = next(node for node in nodes if node["metadata"]["name"] == "gpu-a100-1")["metadata"]["labels"]
    assert (a100["nvidia.com/gpu.product"], a100["nvidia.com/gpu.memory"]) == ("NVIDIA-A100-SXM4-80GB", "81920")
    assert (a100["nvidia.com/mig.capable"], a100["nvidia.com/gpu.compute.major"]) == ("true", "8")


def test_a_deployment_is_scheduled_and_becomes_available(kubectl: Kubectl, space: str) -> None:
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "x"}}, "template": template()},
    }
    apply(kubectl, space, body)
    kubectl("rollout", "status", "deployment/web", "-n", space, "--timeout=30s")
    addresses = kubectl("get", "pods", "-n", space, "-o", "jsonpath={.items[*].status.podIP}").split()
    assert len(set(addresses)) == 3


def test_pod_security_refuses_a_pod_that_is_not_restricted(kubectl: Kubectl, space: str) -> None:
    loose = pod("loose")
    loose["spec"]["securityContext"] = {}
    with pytest.raises(subprocess.CalledProcessError) as refused:
        apply(kubectl, space, loose)
    assert 'violates PodSecurity "restricted' in refused.value.stderr


def test_a_quota_on_gpus_is_enforced(kubectl: Kubectl, space: str, eventually: Eventually) -> None:
    kubectl("create", "quota", "gpus", "-n", space, "--hard=requests.nvidia.com/gpu=4")

    def counted() -> bool:
        return bool(kubectl("get", "quota", "gpus", "-n", space, "-o", "jsonpath={.status.hard}"))

    # Admission enforces what the controller has counted, and nothing before.
    eventually("the quota is counted", counted)
    apply(kubectl, space, pod("fits", gpus=4))
    with pytest.raises(subprocess.CalledProcessError) as refused:
        apply(kubectl, space, pod("too-many", gpus=1))
    assert "exceeded quota" in refused.value.stderr


def test_a_pod_of_higher_priority_preempts_one_that_fills_the_node(
    kubectl: Kubectl, space: str, eventually: Eventually
) -> None:
    for name, value in (("low", -10), ("high", 10)):
        metadata = {"name": f"{space}-{name}"}
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value}
        apply(kubectl, space, kind)
    where = {"nodeSelector": {"kubernetes.io/hostname": "gpu-4090-1"}}
    apply(kubectl, space, pod("offline", 8, priorityClassName=f"{space}-low", terminationGracePeriodSeconds=1, **where))
    eventually("the offline pod runs", lambda: phase(kubectl, space, "offline") == "Running")
    apply(kubectl, space, pod("online", 8, priorityClassName=f"{space}-high", **where))
    eventually("the online pod runs", lambda: phase(kubectl, space, "online") == "Running")
    assert phase(kubectl, space, "offline") == ""
    kubectl("delete", "priorityclass", f"{space}-low", f"{space}-high")


def test_a_job_completes_after_the_time_it_was_told_to_run_and_not_before(
    kubectl: Kubectl, space: str, eventually: Eventually
) -> None:
    def job(name: str, annotations: dict[str, str]) -> dict[str, Any]:
        body = template(annotations, restartPolicy="Never")
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": body}}

    def state(name: str, field: str) -> str:
        return kubectl("get", "job", name, "-n", space, "-o", f"jsonpath={{.status.{field}}}")

    apply(kubectl, space, job("endless", {}))
    apply(kubectl, space, job("short", {"sandbox.lantau.internal/runs-for": "2s"}))
    eventually("both are active", lambda: state("short", "active") == state("endless", "active") == "1")
    kubectl("wait", "--for=condition=complete", "job/short", "-n", space, "--timeout=30s")
    assert state("endless", "active") == "1"


def test_a_stateful_set_gets_a_local_volume_which_can_be_used_again_afterwards(
    sandbox: Sandbox, kubectl: Kubectl, space: str, eventually: Eventually
) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local-nvme",
            "resources": {"requests": {"storage": "500Gi"}},
        },
    }
    where = {"nodeSelector": {"kubernetes.io/hostname": "data-2"}}
    body = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "store"},
        "spec": {
            "replicas": 2,
            "serviceName": "store",
            "selector": {"matchLabels": {"app": "x"}},
            "template": template(**where),
            "volumeClaimTemplates": [claim],
        },
    }
    apply(kubectl, space, body)
    kubectl("rollout", "status", "statefulset/store", "-n", space, "--timeout=60s")
    claims = kubectl("get", "pvc", "-n", space, "-o", "jsonpath={.items[*].spec.volumeName}").split()
    assert len(claims) == 2
    assert all(name.startswith("data-2-nvme-") for name in claims)

    def phases() -> set[str]:
        return set(kubectl("get", "pv", *claims, "-o", "jsonpath={.items[*].status.phase}").split())

    kubectl("delete", "statefulset", "store", "-n", space)
    kubectl("delete", "pvc", "--all", "-n", space)
    eventually("the volumes keep their data for whoever looks", lambda: phases() == {"Released"})
    assert set(claims) <= set(sandbox.free_volumes())
    eventually("the volumes can be bound again", lambda: phases() == {"Available"})


def test_a_user_has_no_rights_but_those_that_rbac_gives(sandbox: Sandbox, kubectl: Kubectl, space: str) -> None:
    auditor = sandbox.user_kubeconfig("mei", ["lantau:auditor"])
    with pytest.raises(subprocess.CalledProcessError) as refused:
        kubectl("get", "pods", "-n", space, kubeconfig=auditor)
    assert 'User "mei" cannot list resource "pods"' in refused.value.stderr
    kubectl("create", "rolebinding", "view", "-n", space, "--clusterrole=view", "--group=lantau:auditor")
    assert kubectl("auth", "can-i", "list", "pods", "-n", space, kubeconfig=auditor).strip() == "yes"


def test_nobody_without_credentials_gets_an_answer(sandbox: Sandbox) -> None:
    server = json.loads(sandbox.kubeconfig().read_text())["clusters"][0]["cluster"]["server"]
    with httpx.Client(verify=False, trust_env=False) as client:  # noqa: S501
        assert client.get(f"{server}/api/v1/namespaces").status_code == 401
        assert client.get(f"{server}/healthz").status_code == 401


def test_the_audit_log_tells_who_read_a_secret_and_never_what_was_in_it(
    sandbox: Sandbox, kubectl: Kubectl, space: str
) -> None:
    value = uuid.uuid4().hex
    kubectl("create", "secret", "generic", "key", "-n", space, f"--from-literal=password={value}")
    kubectl("create", "rolebinding", "edit", "-n", space, "--clusterrole=edit", "--user=chen")
    kubectl("get", "secret", "key", "-n", space, "-o", "json", kubeconfig=sandbox.user_kubeconfig("chen"))
    (read,) = audited(sandbox, verb="get", resource="secrets", name="key", namespace=space, user="chen")
    assert (read["level"], read["stage"]) == ("Metadata", "ResponseComplete")
    assert value not in sandbox.audit_log.read_text()
    (bound,) = audited(sandbox, verb="create", resource="rolebindings", namespace=space)
    assert bound["level"] == "RequestResponse"
    assert bound["requestObject"]["subjects"][0]["name"] == "chen"


def test_an_exec_that_fails_is_recorded_all_the_same(sandbox: Sandbox, kubectl: Kubectl, space: str) -> None:
    apply(kubectl, space, pod("target"))
    kubectl("wait", "--for=condition=Ready", "pod/target", "-n", space, "--timeout=30s")
    with pytest.raises(subprocess.CalledProcessError):
        kubectl("exec", "target", "-n", space, "--", "id")
    assert audited(sandbox, resource="pods", subresource="exec", name="target", namespace=space)


def test_secrets_are_encrypted_where_they_are_stored(sandbox: Sandbox, kubectl: Kubectl, space: str) -> None:
    secret, plain = uuid.uuid4().hex, uuid.uuid4().hex
    kubectl("create", "secret", "generic", "hidden", "-n", space, f"--from-literal=value={secret}")
    kubectl("create", "configmap", "shown", "-n", space, f"--from-literal=value={plain}")
    stored = b"".join(path.read_bytes() for path in (sandbox.folder / "etcd").rglob("*") if path.is_file())
    assert plain.encode() in stored
    assert secret.encode() not in stored


def test_an_external_secret_is_delivered_by_the_token_of_a_service_account(
    sandbox: Sandbox, kubectl: Kubectl, space: str, eventually: Eventually
) -> None:
    value, rotated = uuid.uuid4().hex, uuid.uuid4().hex
    env = sandbox.env()
    store = boto3.client(
        "secretsmanager",
        endpoint_url=env["AWS_ENDPOINT_URL"],
        region_name=env["AWS_REGION"],
        aws_access_key_id=env["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"],
    )
    key = f"lantau/{space}/business/api"
    store.create_secret(Name=key, SecretString=value)
    role = "arn:aws:iam::123456789012:role/lantau-delivery"
    annotations = {"eks.amazonaws.com/role-arn": role}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "annotations": annotations}}
    provider = {
        "service": "SecretsManager",
        "region": "ap-east-1",
        "role": role,
        "auth": {"jwt": {"serviceAccountRef": {"name": "reader"}}},
    }
    secret_store = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "managed"},
        "spec": {"provider": {"aws": provider}},
    }
    wanted = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": "api"},
        "spec": {
            "secretStoreRef": {"name": "managed", "kind": "SecretStore"},
            "refreshInterval": "1s",
            "data": [{"secretKey": "key", "remoteRef": {"key": key}}],
        },
    }
    for body in (account, secret_store, wanted):
        apply(kubectl, space, body)

    def delivered() -> str:
        found = kubectl(
            "get", "secret", "api", "-n", space, "--ignore-not-found", "-o", "go-template={{.data.key|base64decode}}"
        )
        return found.strip()

    kubectl("wait", "--for=condition=Ready", "externalsecret/api", "-n", space, "--timeout=30s")
    assert delivered() == value
    store.put_secret_value(SecretId=key, SecretString=rotated)
    eventually("the rotated value arrives", lambda: delivered() == rotated)
    account_name = "system:serviceaccount:external-secrets:external-secrets"
    assert audited(sandbox, user=account_name, resource="serviceaccounts", subresource="token", namespace=space)
    log = sandbox.audit_log.read_text()
    assert value not in log
    assert rotated not in log

"""The preflight: every obstacle is a problem with a code and a remedy, told at once, and never an exception."""

import socket
import time
from pathlib import Path
from typing import Any

import boto3
import pytest

from provider.config import ProviderConfig
from provider.preflight.function import preflight
from provider.values import Plain
from tests.unit.provider.fake_cluster import CLUSTER_UID, CONTEXT, FakeCluster

ROUTE = {
    "group": "gateway.networking.k8s.io",
    "kind": "HTTPRoute",
    "version": "v1",
    "addon": "Gateway API",
    "how": "install its CRDs",
}
GATEWAY = {**ROUTE, "kind": "Gateway"}
EXTERNAL = {
    "group": "external-secrets.io",
    "kind": "ExternalSecret",
    "version": "v1",
    "addon": "External Secrets",
    "how": "helm",
}


def ask(**args: Any) -> Plain:
    answer, failures = preflight(ProviderConfig("ap-east-1", CONTEXT, "dev"), args)
    assert not failures, [(failure.property, failure.reason) for failure in failures]
    return answer


def codes(answer: Plain) -> list[str]:
    return [problem["code"] for problem in answer["problems"]]


def only(answer: Plain) -> Plain:
    assert len(answer["problems"]) == 1, answer["problems"]
    assert not answer["ok"]
    problem: Plain = answer["problems"][0]
    return problem


def test_a_fit_cluster_is_described(cluster: FakeCluster) -> None:
    cluster.add_node(
        "gpu-3", labels={"nvidia.com/gpu.product": "A100", "lantau.internal/pool": "p", "other": "x"}, gpus=8
    )

    answer = ask(clusterUid=CLUSTER_UID, minServerVersion="1.33", requiredNodes=["gpu-1", "gpu-3"])

    assert answer["ok"]
    assert (answer["server"]["version"], answer["server"]["uid"]) == ("v1.36.3", CLUSTER_UID)
    assert answer["server"]["nodes"][2] == {
        "name": "gpu-3",
        "ready": True,
        "unschedulable": False,
        "gpus": 8,
        "labels": {"nvidia.com/gpu.product": "A100", "lantau.internal/pool": "p"},
        "taints": [],
    }


def test_four_requests_are_enough(cluster: FakeCluster) -> None:
    ask(requiredKinds=[ROUTE, GATEWAY, EXTERNAL], requiredNodes=["gpu-1"])

    assert len(cluster.requests) == 4


@pytest.mark.parametrize("aggregated", [True, False])
def test_everything_that_is_missing_is_told_at_once(cluster: FakeCluster, aggregated: bool) -> None:
    cluster.aggregated = aggregated
    cluster.apis = {"external-secrets.io": {"v1beta1": ["ExternalSecret"]}, "apps": {"v1": ["Deployment"]}}

    answer = ask(
        requiredKinds=[ROUTE, GATEWAY, EXTERNAL, {**ROUTE, "group": "apps", "kind": "Deployment"}],
        requiredNodes=["gpu-9", "gpu-1"],
        minServerVersion="1.40",
        clusterUid="another",
    )

    told = {problem["code"]: problem for problem in answer["problems"]}
    assert set(told) == {"cluster-wrong", "server-too-old", "api-missing", "api-version-missing", "node-missing"}
    assert told["api-missing"]["message"] == (
        "Gateway API: the cluster has no Gateway gateway.networking.k8s.io/v1, HTTPRoute gateway.networking.k8s.io/v1"
    )
    assert told["api-missing"]["remedy"] == "install its CRDs"
    assert "ExternalSecret external-secrets.io/v1 (served: v1beta1)" in told["api-version-missing"]["message"]
    assert told["node-missing"]["subject"] == "gpu-9"
    assert all(problem["remedy"] for problem in answer["problems"])


def test_a_server_built_without_its_version_is_not_called_old(cluster: FakeCluster) -> None:
    cluster.version = "v0.0.0-master+$Format:%H$"

    assert ask(minServerVersion="1.33")["ok"]


def test_an_unreachable_cluster_is_told_once_and_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeCluster()
    fake.close()
    monkeypatch.setenv("KUBECONFIG", str(fake.kubeconfig(tmp_path / "kubeconfig")))

    problem = only(ask())

    assert problem["code"] == "cluster-unreachable"
    assert "(connection refused or no route)" in problem["message"]


def test_a_cluster_that_does_not_answer_costs_one_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        fake = FakeCluster()
        fake.close()
        path = fake.kubeconfig(tmp_path / "kubeconfig")
        path.write_text(path.read_text().replace(fake.url, f"http://127.0.0.1:{silent.getsockname()[1]}"))
        monkeypatch.setenv("KUBECONFIG", str(path))
        begin = time.monotonic()
        problem = only(ask(timeoutSeconds=1))

    assert problem["code"] == "cluster-unreachable"
    assert "no answer in time" in problem["message"]
    assert time.monotonic() - begin < 3


def test_an_unknown_context_is_told_with_the_nearest(cluster: FakeCluster) -> None:
    problem = only(ask(context="hk-tset"))

    assert problem["code"] == "context-unknown"
    assert problem["remedy"] == f"did you mean {CONTEXT}? it has {CONTEXT}"


def test_a_missing_kubeconfig_is_told_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))

    problem = only(ask())

    assert problem["code"] == "kubeconfig-missing"
    assert str(tmp_path / "nowhere") in problem["message"]


@pytest.mark.parametrize(
    "text", ["{", "- 1", "contexts: 3", "contexts: [{name: hk-test, context: {cluster: c}}]", "\x00", "users: [x]"]
)
def test_a_damaged_kubeconfig_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))

    assert only(ask())["code"] == "kubeconfig-invalid"


def test_refused_credentials_are_told_once(cluster: FakeCluster) -> None:
    for path in ("/version", "/apis", "/api/v1/nodes", "/api/v1/namespaces/kube-system"):
        cluster.refusals[path] = 401

    assert only(ask())["code"] == "credentials-refused"


def test_a_missing_permission_does_not_hide_the_rest(cluster: FakeCluster) -> None:
    cluster.refusals["/api/v1/nodes"] = 403

    answer = ask(requiredKinds=[ROUTE], requiredNodes=["gpu-1"])

    assert codes(answer) == ["permission-missing", "api-missing"]
    assert answer["server"]["nodes"] == []


def test_a_page_in_the_place_of_an_api_server_is_told(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "answer", lambda *_: (200, {"welcome": "please sign in"}))

    assert "answers, but not as a Kubernetes API server" in only(ask())["message"]


def test_something_else_than_an_api_server_is_told(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "answer", lambda *_: (200, ["not a cluster"]))

    assert "does not answer as a Kubernetes API server" in only(ask())["message"]


def test_secrets_that_people_must_put_in_are_looked_up(cluster: FakeCluster, aws: None) -> None:
    client = boto3.client("secretsmanager", region_name="ap-east-1")
    client.create_secret(Name="third/openai", SecretString="{}")
    client.create_secret(Name="third/old", SecretString="{}")
    client.delete_secret(SecretId="third/old", RecoveryWindowInDays=7)

    answer = ask(requiredSecrets=["third/openai", "third/old", "third/none"])

    assert [(problem["code"], problem["subject"]) for problem in answer["problems"]] == [
        ("secret-pending-deletion", "third/old"),
        ("secret-missing", "third/none"),
    ]


def test_a_store_that_answers_is_enough_when_no_secret_is_asked_for(cluster: FakeCluster, aws: None) -> None:
    assert ask(checkStore=True)["ok"]


def test_missing_credentials_of_the_store_are_told_once(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

    problem = only(ask(requiredSecrets=["a/b", "c/d"]))

    assert problem["code"] == "store-credentials-missing"
    assert "no AWS credentials were found" in problem["remedy"]


def test_an_unreachable_store_is_told_once(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "throwaway")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "throwaway")
        problem = only(ask(requiredSecrets=["a/b", "c/d"]))

    assert problem["code"] == "store-unreachable"
    assert "AWS_ENDPOINT_URL" in problem["remedy"]


@pytest.mark.parametrize(
    ("args", "path", "words"),
    [
        ({"requiredNode": []}, "requiredNode", "did you mean requiredNodes?"),
        ({"requiredNodes": "gpu-1"}, "requiredNodes", "must be a list, not a string"),
        ({"requiredNodes": [1]}, "requiredNodes", "must be a list of strings"),
        ({"minServerVersion": "latest"}, "minServerVersion", "such as 1.33"),
        ({"timeoutSeconds": 0}, "timeoutSeconds", "from 1 to 60"),
        ({"requiredKinds": [{"kind": "X"}]}, "requiredKinds[0].version", "is required"),
    ],
)
def test_a_wrong_argument_is_named(args: Plain, path: str, words: str) -> None:
    _, failures = preflight(ProviderConfig(None, CONTEXT, None), args)

    found = {failure.property: failure.reason for failure in failures}
    assert words in found[path]


def test_no_context_is_ever_assumed(cluster: FakeCluster) -> None:
    answer, _ = preflight(ProviderConfig(), {})

    assert codes(answer) == ["context-missing"]

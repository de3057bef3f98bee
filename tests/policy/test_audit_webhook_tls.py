"""AUD-11."""

from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.policy.harness import UNKNOWN, clean, fires, judge


def client(server: Any = "https://audit.example.com/events", **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "audit", "cluster": {"server": server, **more}}],
        "users": [],
    }


def in_map(config: dict[str, Any], key: str = "audit-webhook.yaml") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cp"}, "data": {key: yaml.safe_dump(config)}}


def in_files(config: dict[str, Any]) -> dict[str, Any]:
    file = {"path": "/etc/kubernetes/audit-webhook.yaml", "content": yaml.safe_dump(config)}
    return {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1",
        "kind": "KubeadmControlPlane",
        "metadata": {"name": "cp"},
        "spec": {"kubeadmConfigSpec": {"files": [file]}},
    }


def sink(url: Any) -> dict[str, Any]:
    return {
        "apiVersion": "auditregistration.k8s.io/v1alpha1",
        "kind": "AuditSink",
        "metadata": {"name": "sink"},
        "spec": {"webhook": {"clientConfig": {"url": url}}},
    }


BAD = [
    client("http://audit.audit.svc:8080"),
    client(**{"insecure-skip-tls-verify": True}),
    client("audit.example.com"),
]


@pytest.mark.parametrize("config", BAD)
@pytest.mark.parametrize("hold", [lambda config: config, in_map, in_files])
def test_an_unverified_webhook_is_refused(hold: Any, config: dict[str, Any]) -> None:
    assert fires("AUD-11", hold(config))


@pytest.mark.parametrize("hold", [lambda config: config, in_map, in_files])
def test_a_verified_webhook_passes(hold: Any) -> None:
    assert clean("AUD-11", hold(client()))
    assert clean("AUD-11", hold(client(**{"insecure-skip-tls-verify": False})))


def test_an_audit_sink_is_judged_by_its_address() -> None:
    assert fires("AUD-11", sink("http://audit.example.com"))
    assert clean("AUD-11", sink("https://audit.example.com"))
    assert judge("AUD-11", sink(UNKNOWN)).unjudged


def test_other_client_configurations_are_not_the_webhooks() -> None:
    config = client("http://localhost:8080")
    config["clusters"][0]["name"] = "local"
    assert clean("AUD-11", in_map(config, "kubeconfig"))


def test_an_unknown_check_is_left_to_the_update() -> None:
    assert judge("AUD-11", client(**{"insecure-skip-tls-verify": UNKNOWN})).unjudged


def test_a_file_is_known_as_the_webhooks_by_its_path_on_the_node() -> None:
    config = client("http://collector:8080")
    config["clusters"][0]["name"] = "collector"
    manifest = in_files(config)
    assert fires("AUD-11", manifest)
    manifest["spec"]["kubeadmConfigSpec"]["files"][0]["path"] = "/etc/kubernetes/other.yaml"
    assert clean("AUD-11", manifest)

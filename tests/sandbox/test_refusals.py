"""What cannot be deployed is refused in preview, with one clear error, and nothing is touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from sandbox.cluster import Sandbox
from tests.sandbox.deployment import Deployment
from workflow.errors import WorkflowError

Kubectl = Callable[..., str]
Eventually = Callable[..., None]
Refuse = Callable[[Callable[[dict[str, Any]], object]], str]

CONDITIONS = "jsonpath={range .status.conditions[*]}{.type}={.status} {end}"


@pytest.fixture(scope="module")
def shared(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return Deployment(sandbox, tmp_path_factory.mktemp("refusals"))


@pytest.fixture
def deployment(shared: Deployment) -> Iterator[Deployment]:
    """The platform; a test may change the environment that it is deployed with."""
    env = dict(shared.env)
    yield shared
    shared.env.clear()
    shared.env.update(env)


@pytest.fixture
def refuse(deployment: Deployment) -> Refuse:
    """Preview a changed stack that must be refused, and give the one error that Pulumi shows."""

    def preview(change: Callable[[dict[str, Any]], object]) -> str:
        deployment.configure(change)
        with pytest.raises(WorkflowError) as caught:
            deployment.command.preview()
        errors = caught.value.outcome.errors
        assert len(errors) == 1, errors
        assert "Traceback" not in errors[0]
        assert not any(operation == "create" and "kubernetes:" in urn for operation, urn in caught.value.outcome.steps)
        return errors[0]

    return preview


def test_an_unknown_key_is_one_error_with_the_nearest_key(refuse: Refuse) -> None:
    error = refuse(lambda stack: stack["models"]["chat"].update(replicaz=3))
    assert 'models.chat.replicaz: "replicaz" is not a key here. Did you mean "replicas"?' in error


def test_a_missing_release_file_is_one_error_with_the_nearest_release(refuse: Refuse) -> None:
    error = refuse(lambda stack: stack["models"]["chat"].update(stable="qwen3-8b-r7", canary=None, previous=None))
    assert 'release "qwen3-8b-r7" has no file' in error
    assert "releases/chat" in error
    assert "Did you mean" in error


def test_a_context_that_the_kubeconfig_lacks_is_one_error_that_names_those_it_has(refuse: Refuse) -> None:
    error = refuse(lambda stack: stack["cluster"].update(context="lantau-sandbx"))
    assert "lantau-sandbx" in error
    assert "lantau-sandbox" in error


def test_another_cluster_behind_the_context_is_refused(refuse: Refuse) -> None:
    error = refuse(lambda stack: stack["cluster"].update(uid="11111111-2222-3333-4444-555555555555"))
    assert "11111111-2222-3333-4444-555555555555" in error


def test_an_unreachable_cluster_is_one_error_within_seconds(
    refuse: Refuse, deployment: Deployment, tmp_path: Path
) -> None:
    yaml = YAML(typ="safe")
    tree = yaml.load(Path(deployment.env["KUBECONFIG"]).read_text())
    tree["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    broken = tmp_path / "kubeconfig"
    with broken.open("w") as file:
        yaml.dump(tree, file)
    deployment.env["KUBECONFIG"] = str(broken)
    error = refuse(dict.copy)
    assert "127.0.0.1:9" in error


def test_a_node_that_does_not_exist_is_named(refuse: Refuse) -> None:
    error = refuse(lambda stack: stack["pools"]["data"].update(nodes=["data-1", "data-9"]))
    assert "data-9" in error


def test_a_third_party_key_that_nobody_put_into_the_store_is_named(refuse: Refuse) -> None:
    error = refuse(lambda stack: stack["secrets"].update(third_party=["partners/speech-api"]))
    assert "partners/speech-api" in error


def definition(found: str) -> str:
    """A definition as it can be created again, from one that was read."""
    read = json.loads(found)
    metadata = {key: read["metadata"].get(key, {}) for key in ("name", "labels", "annotations")}
    return json.dumps(
        {"apiVersion": read["apiVersion"], "kind": read["kind"], "metadata": metadata, "spec": read["spec"]}
    )


def test_missing_kinds_are_one_list_with_the_way_to_get_them(
    refuse: Refuse, kubectl: Kubectl, eventually: Eventually
) -> None:
    missing = ["externalsecrets.external-secrets.io", "securitypolicies.gateway.envoyproxy.io"]
    saved = [definition(kubectl("get", "crd", name, "-o", "json")) for name in missing]
    kubectl("delete", "crd", *missing, "--wait=true")
    try:
        error = refuse(dict.copy)
    finally:
        for text in saved:
            kubectl("create", "-f", "-", stdin=text)
        # Not `kubectl wait`, which fails for a definition so new that it has no conditions yet.
        eventually(
            "the definitions are established",
            lambda: all("Established=True" in kubectl("get", "crd", name, "-o", CONDITIONS) for name in missing),
        )
    assert "ExternalSecret" in error
    assert "SecurityPolicy" in error
    assert "helm install" in error

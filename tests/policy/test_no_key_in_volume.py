"""KEY-07."""

from typing import Any

import pytest

from tests.policy.harness import clean, fires
from tests.policy.manifests import pod, pod_spec
from tests.policy.samples import WORD, some


@pytest.mark.parametrize(
    "manifest",
    [
        pod(pod_spec(volumes=[{"name": "oss", "csi": {"driver": "oss", "volumeAttributes": {"akSecret": some(30)}}}])),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "oss"},
            "spec": {"csi": {"volumeAttributes": {"akId": "LT" + "AI" + some(20), "akSecret": some(30)}}},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "juicefs"},
            "parameters": {"metaurl": f"redis://:{WORD}@redis:6379/1"},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "smb"},
            "mountOptions": [f"username=app,password={WORD}"],
        },
    ],
)
def test_a_key_in_a_volume_is_found(manifest: dict[str, Any]) -> None:
    assert fires("KEY-07", manifest)


def test_a_volume_that_names_a_secret_passes() -> None:
    parameters = {
        "csi.storage.k8s.io/node-stage-secret-name": "juicefs",
        "csi.storage.k8s.io/node-stage-secret-namespace": "x",
    }
    manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "a"},
        "parameters": parameters,
    }
    assert clean("KEY-07", manifest)

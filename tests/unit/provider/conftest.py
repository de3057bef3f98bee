"""A store and a cluster that live in the test's own process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from moto import mock_aws

from provider.config import ProviderConfig
from provider.kube.resource import NodeTaint
from provider.resource import Say
from provider.store.client import SecretStore
from provider.store.resource import ManagedSecret
from tests.unit.provider.fake_cluster import CONTEXT, FakeCluster

REGION = "ap-east-1"


class Heard(Say):
    """Remembers what the user would have been told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        super().__init__(lambda severity, message, _urn: self.lines.append(f"{severity}: {message}"))


@pytest.fixture
def say() -> Heard:
    return Heard()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Secrets Manager in this process, empty."""
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "throwaway")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "throwaway")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with mock_aws():
        yield


@pytest.fixture
def secrets(aws: None) -> ManagedSecret:
    """The resource kind against the mocked store, for stack `dev`."""
    stores = {REGION: SecretStore(REGION)}
    return ManagedSecret(
        ProviderConfig(REGION, None, "dev"), lambda region: stores.setdefault(str(region), SecretStore(region))
    )


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    """A cluster with two nodes, reached through KUBECONFIG by context CONTEXT."""
    fake = FakeCluster()
    fake.add_node("gpu-1", {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}, gpus=8)
    fake.add_node("gpu-2")
    monkeypatch.setenv("KUBECONFIG", str(fake.kubeconfig(tmp_path / "kubeconfig")))
    yield fake
    fake.close()


@pytest.fixture
def taints(cluster: FakeCluster) -> NodeTaint:
    """The resource kind against the fake cluster, for stack `dev`."""
    return NodeTaint(ProviderConfig(None, CONTEXT, "dev"))

"""What runs in a cluster, read for the summary; nothing is ever changed here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lantau.labels import (
    GPU_RESOURCE,
    NAMESPACE_BATCH,
    NAMESPACE_BUSINESS,
    NAMESPACE_INFERENCE,
    NAMESPACE_VECTOR,
    NAMESPACES,
    POOL_LABEL,
)
from lantau.platform import Platform
from workflow.errors import WorkflowError

TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class PoolView:
    """Nodes of a pool as the cluster reports them."""

    name: str
    role: str
    ready: int
    nodes: int
    cards: int
    cards_used: int


@dataclass(frozen=True)
class WorkloadView:
    """Pods of one workload."""

    ready: int
    wanted: int

    def __str__(self) -> str:
        return f"{self.ready}/{self.wanted}"


@dataclass(frozen=True)
class ReleaseView:
    """One release of a model: its role, the weight its route really has, and its pods."""

    model: str
    release: str
    role: str
    weight: int
    pods: WorkloadView


@dataclass(frozen=True)
class ClusterView:
    """Everything that the summary shows."""

    pools: list[PoolView] = field(default_factory=list)
    releases: list[ReleaseView] = field(default_factory=list)
    workloads: dict[str, WorkloadView] = field(default_factory=dict)
    """Other workloads by `namespace/name`."""
    gateways: list[tuple[str, str]] = field(default_factory=list)
    """(name, address) of each gateway."""
    secrets: list[tuple[str, str, bool]] = field(default_factory=list)
    """(namespace, name, synced) of each delivered secret; never a value."""
    volumes: list[tuple[str, str, str]] = field(default_factory=list)
    """(namespace/name, size, phase) of each volume claim."""
    jobs: list[tuple[str, int, int, int]] = field(default_factory=list)
    """(name, active, succeeded, wanted) of each batch job."""

    @property
    def deployed(self) -> bool:
        """Whether anything of the platform is there."""
        return bool(self.workloads or self.gateways or self.secrets or any(pool.ready for pool in self.pools))


def read_cluster(platform: Platform, kubeconfig: str | None) -> ClusterView:
    """Read the cluster behind the stack's context. Raises WorkflowError when it cannot be reached."""
    from kubernetes import client, config
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError

    try:
        api = config.new_client_from_config(config_file=kubeconfig, context=platform.stack.cluster.context)
        reader = _Reader(platform, client, api)
        return reader.view()
    except config.ConfigException as error:
        raise WorkflowError(f"the kubeconfig has no usable context {platform.stack.cluster.context}: {error}") from None
    except ApiException as error:
        raise WorkflowError(f"the cluster refused to answer: {error.status} {error.reason}") from None
    except HTTPError as error:
        raise WorkflowError(
            f"the cluster behind context {platform.stack.cluster.context} does not answer ({type(error).__name__})"
        ) from None


class _Reader:
    def __init__(self, platform: Platform, client: Any, api: Any) -> None:
        self.platform = platform
        self.core = client.CoreV1Api(api)
        self.apps = client.AppsV1Api(api)
        self.batch = client.BatchV1Api(api)
        self.custom = client.CustomObjectsApi(api)

    def view(self) -> ClusterView:
        return ClusterView(
            pools=self._pools(),
            releases=self._releases(),
            workloads=self._workloads(),
            gateways=self._gateways(),
            secrets=self._secrets(),
            volumes=self._volumes(),
            jobs=self._jobs(),
        )

    def _pools(self) -> list[PoolView]:
        nodes = self.core.list_node(label_selector=POOL_LABEL, _request_timeout=TIMEOUT_SECONDS).items
        pods = self.core.list_pod_for_all_namespaces(
            field_selector="status.phase=Running", _request_timeout=TIMEOUT_SECONDS
        ).items
        used: dict[str, int] = {}
        for pod in pods:
            cards = sum(
                int((container.resources.requests or {}).get(GPU_RESOURCE, 0))
                for container in pod.spec.containers
                if container.resources
            )
            used[pod.spec.node_name] = used.get(pod.spec.node_name, 0) + cards
        views = []
        for name, pool in self.platform.stack.pools.items():
            mine = [node for node in nodes if node.metadata.labels.get(POOL_LABEL) == name]
            views.append(
                PoolView(
                    name=name,
                    role=pool.role.value,
                    ready=sum(_is_ready(node) for node in mine),
                    nodes=len(pool.nodes),
                    cards=sum(int((node.status.allocatable or {}).get(GPU_RESOURCE, 0)) for node in mine),
                    cards_used=sum(used.get(node.metadata.name, 0) for node in mine),
                )
            )
        return views

    def _deployments(self, namespace: str) -> dict[str, WorkloadView]:
        found = self.apps.list_namespaced_deployment(namespace, _request_timeout=TIMEOUT_SECONDS).items
        return {item.metadata.name: WorkloadView(item.status.ready_replicas or 0, item.spec.replicas) for item in found}

    def _releases(self) -> list[ReleaseView]:
        deployments = self._deployments(NAMESPACE_INFERENCE)
        weights = self._weights()
        views = []
        for name, model in self.platform.stack.models.items():
            for release, _ in model.replicas_by_release():
                role = "stable" if release == model.stable else "previous" if release == model.previous else "canary"
                workload = f"{name}-{release}"
                pods = deployments.get(workload, WorkloadView(0, 0))
                views.append(ReleaseView(name, release, role, weights.get(workload, 0), pods))
        return views

    def _weights(self) -> dict[str, int]:
        """Weight of each Service in the routes of the inference namespace, as the cluster holds it."""
        weights: dict[str, int] = {}
        for route in self._list("gateway.networking.k8s.io", "v1", NAMESPACE_INFERENCE, "httproutes"):
            for rule in route["spec"].get("rules", []):
                for backend in rule.get("backendRefs", []):
                    weights[backend["name"]] = backend.get("weight", 1)
        return weights

    def _workloads(self) -> dict[str, WorkloadView]:
        views = {}
        for namespace in (NAMESPACE_BUSINESS, NAMESPACE_VECTOR):
            found = self._deployments(namespace)
            for item in self.apps.list_namespaced_stateful_set(namespace, _request_timeout=TIMEOUT_SECONDS).items:
                found[item.metadata.name] = WorkloadView(item.status.ready_replicas or 0, item.spec.replicas)
            views.update({f"{namespace}/{name}": view for name, view in sorted(found.items())})
        return views

    def _gateways(self) -> list[tuple[str, str]]:
        views = []
        for namespace in (NAMESPACE_BUSINESS, NAMESPACE_INFERENCE):
            for gateway in self._list("gateway.networking.k8s.io", "v1", namespace, "gateways"):
                listener = gateway["spec"]["listeners"][0]
                addresses = [address["value"] for address in gateway.get("status", {}).get("addresses", [])]
                where = (
                    ", ".join(addresses) or listener.get("hostname") or f"class {gateway['spec']['gatewayClassName']}"
                )
                views.append((gateway["metadata"]["name"], f"{listener['protocol']} {listener['port']} {where}"))
        return views

    def _secrets(self) -> list[tuple[str, str, bool]]:
        return sorted(
            (namespace, item["metadata"]["name"], _condition(item, "Ready"))
            for namespace in NAMESPACES
            for item in self._list("external-secrets.io", "v1", namespace, "externalsecrets")
        )

    def _volumes(self) -> list[tuple[str, str, str]]:
        return [
            (
                f"{namespace}/{claim.metadata.name}",
                claim.spec.resources.requests["storage"],
                claim.status.phase,
            )
            for namespace in (NAMESPACE_BUSINESS, NAMESPACE_VECTOR)
            for claim in self.core.list_namespaced_persistent_volume_claim(
                namespace, _request_timeout=TIMEOUT_SECONDS
            ).items
        ]

    def _jobs(self) -> list[tuple[str, int, int, int]]:
        jobs = self.batch.list_namespaced_job(NAMESPACE_BATCH, _request_timeout=TIMEOUT_SECONDS).items
        return [
            (job.metadata.name, job.status.active or 0, job.status.succeeded or 0, job.spec.completions or 1)
            for job in jobs
        ]

    def _list(self, group: str, version: str, namespace: str, plural: str) -> list[dict[str, Any]]:
        """Custom resources of one kind; none when the kind is not installed."""
        from kubernetes.client.exceptions import ApiException

        try:
            found: Mapping[str, Any] = self.custom.list_namespaced_custom_object(
                group, version, namespace, plural, _request_timeout=TIMEOUT_SECONDS
            )
        except ApiException as error:
            if error.status == 404:
                return []
            raise
        return list(found["items"])


def _is_ready(node: Any) -> bool:
    return any(item.type == "Ready" and item.status == "True" for item in node.status.conditions or [])


def _condition(item: Mapping[str, Any], kind: str) -> bool:
    return any(
        condition["type"] == kind and condition["status"] == "True"
        for condition in item.get("status", {}).get("conditions", [])
    )


def contexts(kubeconfig: str | None) -> list[str]:
    """Names of the contexts in a kubeconfig, or in several joined by colons as in KUBECONFIG.

    None of them has to be the current one. Raises WorkflowError when a file is missing or is no kubeconfig.
    """
    found: set[str] = set()
    for path in filter(None, (kubeconfig or "").split(os.pathsep)):
        try:
            tree = YAML(typ="safe", pure=True).load(Path(path).read_text(encoding="utf-8"))
            # An empty file is an empty kubeconfig, as kubectl has it.
            found.update(entry["name"] for entry in (tree or {}).get("contexts") or [])
        except FileNotFoundError:
            raise WorkflowError(f"there is no kubeconfig {path}. Point KUBECONFIG at your cluster's file.") from None
        except OSError as error:
            raise WorkflowError(f"the kubeconfig {path} cannot be read: {error.strerror}") from None
        except (YAMLError, ValueError, TypeError, AttributeError, KeyError):
            raise WorkflowError(f"{path} is no kubeconfig: it holds no list of contexts with names.") from None
    return sorted(found)


def default_kubeconfig(env: Mapping[str, str]) -> str | None:
    """The kubeconfig that the user's tools would read, None when there is none."""
    named = env.get("KUBECONFIG", "")
    if named:
        return named
    usual = Path.home() / ".kube" / "config"
    return str(usual) if usual.exists() else None

"""The team's own service, run by a contract: docs/backend-contract.md says what it gets and what it must do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.business.edge import answer_seconds
from components.business.queue import USER
from components.network import Peer, allow_egress, allow_ingress
from components.pods import container_security, pod_spec, resources
from components.secrets import Delivery, DeliveryArgs, RemoteField, remote_name
from lantau.endpoints import (
    BACKEND,
    BACKEND_LABELS,
    EDGE_GATEWAY,
    INFERENCE,
    PROXY_NAMESPACE,
    QUEUE,
    VECTOR,
    VECTOR_KEY,
    VECTOR_KEY_FIELD,
    VECTOR_TIER,
    Endpoint,
    proxy_labels,
)
from lantau.labels import NAMESPACE_BUSINESS, PRIORITY_STANDARD, standard_labels
from lantau.platform import Platform

core = k8s.core.v1
meta = k8s.meta.v1

KEYS_PATH: Final = "/run/secrets/lantau"
QUEUE_PASSWORD_FILE: Final = "queue-password"
VECTOR_API_KEY_FILE: Final = "vector-api-key"
SCRATCH_PATH: Final = "/tmp"  # noqa: S108 - an emptyDir of the pod alone
SCRATCH_GIB: Final = 2

PRE_STOP_SECONDS: Final = 10
"""Time in which every proxy learns that a pod goes, before the pod hears of it."""
GRACE_MARGIN_SECONDS: Final = 10
STARTUP_SECONDS: Final = 300
ROLLOUT_SECONDS: Final = 600
"""Bound of pull and start of one pod."""


def secret_name(platform: Platform) -> str:
    """Secret with the backend's keys. The tiers it calls take the keys of one epoch, and so does it."""
    return f"{BACKEND}-keys-{platform.stack.secrets.epoch}"


def environment(platform: Platform) -> dict[str, str]:
    """Environment of the container. Addresses and paths of key files; no key."""
    business = platform.stack.business
    return {
        "PORT": str(business.backend.port),
        "INFERENCE_URL": f"http://{INFERENCE.host}:{INFERENCE.ports['http']}",
        "INFERENCE_MODELS": ",".join(sorted(platform.stack.models)),
        "QUEUE_HOST": QUEUE.host,
        "QUEUE_PORT": str(QUEUE.ports["redis"]),
        "QUEUE_USER": USER,
        "QUEUE_PASSWORD_FILE": f"{KEYS_PATH}/{QUEUE_PASSWORD_FILE}",
        "VECTOR_URL": f"http://{VECTOR.host}:{VECTOR.ports['http']}",
        "VECTOR_GRPC": f"{VECTOR.host}:{VECTOR.ports['grpc']}",
        "VECTOR_API_KEY_FILE": f"{KEYS_PATH}/{VECTOR_API_KEY_FILE}",
        "HOME": SCRATCH_PATH,
    }


@dataclass(frozen=True)
class BackendArgs:
    """A checked platform, and where the password of its queue is."""

    platform: Platform
    queue_password: RemoteField


@dataclass(frozen=True)
class BackendResources:
    """What the backend consists of."""

    keys: Delivery
    account: k8s.core.v1.ServiceAccount
    service: k8s.core.v1.Service
    deployment: k8s.apps.v1.Deployment
    disruption: k8s.policy.v1.PodDisruptionBudget | None
    """None for a single pod: a budget would hold every drain of its node for ever."""
    flows: tuple[k8s.networking.v1.NetworkPolicy, ...]


class Backend(Component):
    """Deployment, Service and network flows of the business backend."""

    TOKEN: ClassVar[str] = "lantau:business:Backend"

    resources: BackendResources

    def __init__(self, name: str, args: BackendArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        platform = args.platform
        self._labels = standard_labels(BACKEND, instance=BACKEND, tier="business")
        keys = self._keys(name, args)
        account = core.ServiceAccount(
            f"{name}-account",
            metadata=self._metadata(),
            automount_service_account_token=False,
            opts=self.child(),
        )
        flows = self._flows(platform)
        replicas = platform.stack.business.backend.replicas
        self.resources = BackendResources(
            keys=keys,
            account=account,
            service=self._service(name, platform.stack.business.backend.port),
            deployment=self._deployment(name, platform, [keys, account, *flows]),
            disruption=self._disruption(name) if replicas > 1 else None,
            flows=flows,
        )
        self.finish({"service": BACKEND, "replicas": replicas})

    def _metadata(self, annotations: dict[str, str] | None = None) -> k8s.meta.v1.ObjectMetaArgs:
        return meta.ObjectMetaArgs(
            name=BACKEND, namespace=NAMESPACE_BUSINESS, labels=self._labels, annotations=annotations
        )

    def _keys(self, name: str, args: BackendArgs) -> Delivery:
        vector_key = RemoteField(remote_name(args.platform.name, VECTOR_TIER, VECTOR_KEY), VECTOR_KEY_FIELD)
        return Delivery(
            f"{name}-keys",
            DeliveryArgs(
                namespace=NAMESPACE_BUSINESS,
                secret_name=secret_name(args.platform),
                files={QUEUE_PASSWORD_FILE: "{{ .queue }}", VECTOR_API_KEY_FILE: "{{ .vector }}"},
                values={"queue": args.queue_password, "vector": vector_key},
            ),
            self.child(),
        )

    def _flows(self, platform: Platform) -> tuple[k8s.networking.v1.NetworkPolicy, ...]:
        def to(target: Endpoint, name: str) -> k8s.networking.v1.NetworkPolicy:
            peer = Peer(target.namespace, target.pod_labels)
            ports = sorted(target.ports.values())
            return allow_egress(f"backend-to-{name}", NAMESPACE_BUSINESS, BACKEND_LABELS, [peer], ports, self.child())

        from_edge = allow_ingress(
            "backend-from-edge",
            NAMESPACE_BUSINESS,
            BACKEND_LABELS,
            [Peer(PROXY_NAMESPACE, proxy_labels(EDGE_GATEWAY, NAMESPACE_BUSINESS))],
            [platform.stack.business.backend.port],
            self.child(),
        )
        return (from_edge, to(QUEUE, "queue"), to(VECTOR, "vector"), to(INFERENCE, "inference"))

    def _service(self, name: str, port: int) -> k8s.core.v1.Service:
        return core.Service(
            f"{name}-service",
            # The Deployment is what is waited for.
            metadata=self._metadata({"pulumi.com/skipAwait": "true"}),
            spec=core.ServiceSpecArgs(
                type="ClusterIP",
                selector=dict(BACKEND_LABELS),
                ports=[core.ServicePortArgs(name="http", port=port, target_port="http", protocol="TCP")],
            ),
            opts=self.child(),
        )

    def _deployment(self, name: str, platform: Platform, depends_on: list[pulumi.Resource]) -> k8s.apps.v1.Deployment:
        business = platform.stack.business
        grace = PRE_STOP_SECONDS + answer_seconds(platform) + GRACE_MARGIN_SECONDS
        # The new pod is ready before an old one goes; old ones end on their own time.
        timeout = (ROLLOUT_SECONDS + STARTUP_SECONDS) * business.backend.replicas
        return k8s.apps.v1.Deployment(
            f"{name}-deployment",
            metadata=self._metadata(),
            spec=k8s.apps.v1.DeploymentSpecArgs(
                replicas=business.backend.replicas,
                selector=meta.LabelSelectorArgs(match_labels=dict(BACKEND_LABELS)),
                progress_deadline_seconds=ROLLOUT_SECONDS + STARTUP_SECONDS,
                strategy=k8s.apps.v1.DeploymentStrategyArgs(
                    type="RollingUpdate",
                    rolling_update=k8s.apps.v1.RollingUpdateDeploymentArgs(max_surge=1, max_unavailable=0),
                ),
                template=core.PodTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels=self._labels),
                    spec=pod_spec(
                        containers=[_container(platform)],
                        volumes=_volumes(secret_name(platform)),
                        pools={business.pool: platform.stack.pools[business.pool]},
                        service_account=BACKEND,
                        priority_class=PRIORITY_STANDARD,
                        selector=BACKEND_LABELS,
                        grace_seconds=grace,
                    ),
                ),
            ),
            opts=self.child(depends_on=depends_on, timeout=f"{timeout}s"),
        )

    def _disruption(self, name: str) -> k8s.policy.v1.PodDisruptionBudget:
        return k8s.policy.v1.PodDisruptionBudget(
            f"{name}-disruption",
            metadata=self._metadata(),
            spec=k8s.policy.v1.PodDisruptionBudgetSpecArgs(
                max_unavailable=1,
                selector=meta.LabelSelectorArgs(match_labels=dict(BACKEND_LABELS)),
                # A pod that never became ready must not keep a node from being drained.
                unhealthy_pod_eviction_policy="AlwaysAllow",
            ),
            opts=self.child(),
        )


def _container(platform: Platform) -> k8s.core.v1.ContainerArgs:
    backend = platform.stack.business.backend

    def probe(*, period: int, failures: int, timeout: int) -> k8s.core.v1.ProbeArgs:
        return core.ProbeArgs(
            http_get=core.HTTPGetActionArgs(path=backend.health_path, port="http"),
            period_seconds=period,
            failure_threshold=failures,
            timeout_seconds=timeout,
        )

    return core.ContainerArgs(
        name="backend",
        image=backend.image,
        image_pull_policy="IfNotPresent",
        env=[core.EnvVarArgs(name=key, value=value) for key, value in environment(platform).items()],
        ports=[core.ContainerPortArgs(name="http", container_port=backend.port, protocol="TCP")],
        resources=resources(
            cpu=str(backend.cpus),
            memory_gib=backend.memory_gib,
            cpu_limit=str(2 * backend.cpus),
            scratch_gib=SCRATCH_GIB,
        ),
        security_context=container_security(),
        volume_mounts=[
            core.VolumeMountArgs(name="keys", mount_path=KEYS_PATH, read_only=True),
            core.VolumeMountArgs(name="scratch", mount_path=SCRATCH_PATH),
        ],
        startup_probe=probe(period=5, failures=STARTUP_SECONDS // 5, timeout=3),
        liveness_probe=probe(period=10, failures=6, timeout=5),
        readiness_probe=probe(period=5, failures=2, timeout=3),
        lifecycle=core.LifecycleArgs(
            pre_stop=core.LifecycleHandlerArgs(sleep=core.SleepActionArgs(seconds=PRE_STOP_SECONDS))
        ),
    )


def _volumes(keys: str) -> list[k8s.core.v1.VolumeArgs]:
    return [
        core.VolumeArgs(
            name="keys",
            secret=core.SecretVolumeSourceArgs(
                secret_name=keys,
                default_mode=0o440,
                items=[core.KeyToPathArgs(key=file, path=file) for file in (QUEUE_PASSWORD_FILE, VECTOR_API_KEY_FILE)],
            ),
        ),
        core.VolumeArgs(name="scratch", empty_dir=core.EmptyDirVolumeSourceArgs(size_limit=f"{SCRATCH_GIB}Gi")),
    ]

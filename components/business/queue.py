"""Redis as task queue and result cache: one pod with its own volume, reached by the backend and nobody else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.network import Peer, allow_ingress
from components.pods import container_security, pod_spec, resources
from components.secrets import Delivery, DeliveryArgs, ManagedKey, ManagedKeyArgs, RemoteField
from components.storage import persistent_claim
from lantau.endpoints import BACKEND_LABELS, QUEUE
from lantau.labels import NAMESPACE_BUSINESS, PRIORITY_STANDARD, standard_labels
from lantau.platform import Platform

core = k8s.core.v1
meta = k8s.meta.v1

NAME: Final = QUEUE.service
PORT: Final = QUEUE.ports["redis"]
USER: Final = "backend"
"""Redis user of the backend."""
PROBE_USER: Final = "probe"
PODS_SERVICE: Final = f"{NAME}-pods"
"""Headless Service that a StatefulSet must have; callers use the other one, whose address outlives the pod."""
CLAIM: Final = f"data-{NAME}-0"
DATA_PATH: Final = "/data"
CONFIG_PATH: Final = "/etc/lantau"
CONFIG_FILE: Final = "redis.conf"
KEYS_PATH: Final = "/run/secrets/lantau"
ACL_FILE: Final = "users.acl"
GRACE_SECONDS: Final = 60
MIB_FOR_DATA: Final = 768
"""Of every GiB of the pod. The rest is for buffers and for pages that change while the log is rewritten."""

ACL: Final = "\n".join(
    (
        "user default off resetkeys resetchannels -@all",
        f"user {PROBE_USER} on nopass resetkeys resetchannels -@all +ping",
        # Everything that a queue, a cache or a lock needs. INFO is what client libraries ask first.
        f"user {USER} on #{{{{ .password | sha256sum }}}} ~* &* +@all -@admin -@dangerous +info",
        "",
    )
)
"""Template of the ACL file. It holds the password's digest: the password itself is known to the backend alone."""


def secret_name(platform: Platform) -> str:
    """Secret with the ACL file. Redis reads it at start, so a new epoch is another Secret and other pods."""
    return f"{NAME}-acl-{platform.stack.secrets.epoch}"


def redis_config(memory_gib: int) -> str:
    """Redis' configuration file. The queue refuses to write when it is full rather than forget tasks."""
    return "\n".join(
        (
            "bind * -::*",
            f"port {PORT}",
            "protected-mode yes",
            f"aclfile {KEYS_PATH}/{ACL_FILE}",
            f"dir {DATA_PATH}",
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            f"maxmemory {memory_gib * MIB_FOR_DATA}mb",
            "maxmemory-policy noeviction",
            "tcp-keepalive 60",
            "",
        )
    )


@dataclass(frozen=True)
class TaskQueueArgs:
    """A checked platform."""

    platform: Platform


@dataclass(frozen=True)
class TaskQueueResources:
    """What the queue consists of."""

    key: ManagedKey
    delivery: Delivery
    claim: k8s.core.v1.PersistentVolumeClaim
    account: k8s.core.v1.ServiceAccount
    config: k8s.core.v1.ConfigMap
    service: k8s.core.v1.Service
    pods: k8s.core.v1.Service
    stateful_set: k8s.apps.v1.StatefulSet
    from_backend: k8s.networking.v1.NetworkPolicy


class TaskQueue(Component):
    """Redis with an append-only file on a volume that is kept, and users that can do no more than they must."""

    TOKEN: ClassVar[str] = "lantau:business:TaskQueue"

    resources: TaskQueueResources
    password: RemoteField
    """Where the backend's password is in the managed store."""

    def __init__(self, name: str, args: TaskQueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        platform = args.platform
        stack = platform.stack
        self._labels = standard_labels(NAME, instance=NAME, tier="business")
        key = ManagedKey(
            f"{name}-key",
            ManagedKeyArgs(
                stack_name=platform.name,
                store=stack.secrets,
                protect=stack.protect_data,
                tier="business",
                key="queue",
                description="Password of the backend at the task queue",
                fields={"password": 48},
            ),
            self.child(),
        )
        self.password = key.field("password")
        delivery = Delivery(
            f"{name}-acl",
            DeliveryArgs(
                namespace=NAMESPACE_BUSINESS,
                secret_name=secret_name(platform),
                files={ACL_FILE: ACL},
                values={"password": self.password},
            ),
            self.child(depends_on=[key]),
        )
        claim = persistent_claim(
            f"{name}-claim",
            name=CLAIM,
            namespace=NAMESPACE_BUSINESS,
            labels=self._labels,
            gib=stack.business.queue.storage_gib,
            storage_class=stack.cluster.storage_class,
            opts=self.child(protect=stack.protect_data),
        )
        account = core.ServiceAccount(
            f"{name}-account", metadata=self._metadata(NAME), automount_service_account_token=False, opts=self.child()
        )
        text = redis_config(stack.business.queue.memory_gib)
        config_name = f"{NAME}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        config = core.ConfigMap(
            f"{name}-config",
            metadata=self._metadata(config_name),
            immutable=True,
            data={CONFIG_FILE: text},
            opts=self.child(),
        )
        service = self._service(f"{name}-service", NAME)
        pods = self._service(f"{name}-pods", PODS_SERVICE, cluster_ip="None")
        from_backend = allow_ingress(
            "queue-from-backend",
            NAMESPACE_BUSINESS,
            QUEUE.pod_labels,
            [Peer(NAMESPACE_BUSINESS, BACKEND_LABELS)],
            [PORT],
            self.child(),
        )
        stateful_set = self._stateful_set(
            name, platform, config_name, [delivery, claim, account, config, service, pods, from_backend]
        )
        self.resources = TaskQueueResources(
            key, delivery, claim, account, config, service, pods, stateful_set, from_backend
        )
        self.finish({"host": QUEUE.host, "port": PORT})

    def _metadata(self, name: str, annotations: dict[str, str] | None = None) -> k8s.meta.v1.ObjectMetaArgs:
        return meta.ObjectMetaArgs(
            name=name, namespace=NAMESPACE_BUSINESS, labels=self._labels, annotations=annotations
        )

    def _service(self, logical_name: str, name: str, cluster_ip: str | None = None) -> k8s.core.v1.Service:
        return core.Service(
            logical_name,
            # The pods come after it and are waited for themselves.
            metadata=self._metadata(name, {"pulumi.com/skipAwait": "true"}),
            spec=core.ServiceSpecArgs(
                type="ClusterIP",
                cluster_ip=cluster_ip,
                selector=dict(QUEUE.pod_labels),
                ports=[core.ServicePortArgs(name="redis", port=PORT, target_port="redis", protocol="TCP")],
            ),
            opts=self.child(),
        )

    def _stateful_set(
        self, name: str, platform: Platform, config_name: str, depends_on: list[pulumi.Resource]
    ) -> k8s.apps.v1.StatefulSet:
        business = platform.stack.business
        return k8s.apps.v1.StatefulSet(
            f"{name}-stateful-set",
            metadata=self._metadata(NAME),
            spec=k8s.apps.v1.StatefulSetSpecArgs(
                replicas=1,
                service_name=PODS_SERVICE,
                selector=meta.LabelSelectorArgs(match_labels=dict(QUEUE.pod_labels)),
                template=core.PodTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels=self._labels),
                    spec=pod_spec(
                        containers=[_container(business.queue.image, business.queue.memory_gib)],
                        volumes=_volumes(config_name, secret_name(platform)),
                        pools={business.pool: platform.stack.pools[business.pool]},
                        service_account=NAME,
                        priority_class=PRIORITY_STANDARD,
                        selector=QUEUE.pod_labels,
                        grace_seconds=GRACE_SECONDS,
                    ),
                ),
            ),
            # The log is read back at half a GiB a second at least.
            opts=self.child(depends_on=depends_on, timeout=f"{600 + 2 * business.queue.storage_gib}s"),
        )


def _container(image: str, memory_gib: int) -> k8s.core.v1.ContainerArgs:
    def probe(command: list[str], *, period: int, failures: int) -> k8s.core.v1.ProbeArgs:
        return core.ProbeArgs(
            exec_=core.ExecActionArgs(command=command),
            period_seconds=period,
            failure_threshold=failures,
            timeout_seconds=5,
        )

    ping = ["redis-cli", "-p", str(PORT)]
    return core.ContainerArgs(
        name="redis",
        image=image,
        image_pull_policy="IfNotPresent",
        command=["redis-server", f"{CONFIG_PATH}/{CONFIG_FILE}"],
        ports=[core.ContainerPortArgs(name="redis", container_port=PORT, protocol="TCP")],
        resources=resources(cpu="500m", memory_gib=memory_gib, cpu_limit="2"),
        security_context=container_security(),
        volume_mounts=[
            core.VolumeMountArgs(name="data", mount_path=DATA_PATH),
            core.VolumeMountArgs(name="config", mount_path=CONFIG_PATH, read_only=True),
            core.VolumeMountArgs(name="acl", mount_path=KEYS_PATH, read_only=True),
        ],
        # Alive is who answers at all, be it that the caller is nobody. A TCP probe would not tell a hung server:
        # the kernel takes its connections.
        liveness_probe=probe([*ping, "ping"], period=10, failures=6),
        # Ready is who has read its log: until then every command but AUTH is an error. The user can do nothing else.
        readiness_probe=probe(
            [*ping, "-e", "--no-auth-warning", "--user", PROBE_USER, "--pass", "", "ping"], period=5, failures=3
        ),
    )


def _volumes(config_name: str, acl: str) -> list[k8s.core.v1.VolumeArgs]:
    return [
        core.VolumeArgs(
            name="data", persistent_volume_claim=core.PersistentVolumeClaimVolumeSourceArgs(claim_name=CLAIM)
        ),
        core.VolumeArgs(name="config", config_map=core.ConfigMapVolumeSourceArgs(name=config_name)),
        core.VolumeArgs(
            name="acl",
            secret=core.SecretVolumeSourceArgs(
                secret_name=acl, default_mode=0o440, items=[core.KeyToPathArgs(key=ACL_FILE, path=ACL_FILE)]
            ),
        ),
    ]

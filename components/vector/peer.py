"""The pod of one Qdrant peer."""

from __future__ import annotations

from typing import Final

import pulumi_kubernetes as k8s

from components.pods import container_security, pod_spec, resources
from lantau.endpoints import VECTOR
from lantau.labels import NAMESPACE_VECTOR, PRIORITY_STANDARD
from lantau.stack import Stack

core = k8s.core.v1

NAME: Final = VECTOR.service
PEERS_SERVICE: Final = f"{NAME}-peers"
P2P_PORT: Final = 6335
HOME: Final = "/qdrant"
STORAGE_PATH: Final = f"{HOME}/storage"
INIT_PATH: Final = f"{HOME}/init"
SCRATCH_PATH: Final = "/tmp"  # noqa: S108 - an emptyDir of the pod alone
SCRATCH_GIB: Final = 2
KEYS_PATH: Final = "/run/secrets/lantau"
CONFIG_FILE: Final = "local.yaml"
CONFIG: Final = 'service:\n  api_key: "{{ .key }}"\n'
"""Template of the part of the configuration that is secret."""

COPIES: Final = 2
"""Copies of a collection's shards in a cluster, unless the collection says otherwise: Qdrant's own default is one."""
CPU_SHARE: Final = 0.75
"""Share of a machine's cores that a peer may use; it is sure of a third of that."""
GRACE_SECONDS: Final = 120
STARTUP_PERIOD_SECONDS: Final = 10
SECONDS_PER_GIB: Final = 2
"""Time to read a GiB of segments at start: half a GiB a second, as a SATA drive does."""


def startup_seconds(storage_gib: int) -> int:
    """Longest time until a peer answers: it opens every collection first."""
    return 120 + SECONDS_PER_GIB * storage_gib


def peer_pod(stack: Stack, *, config_secret: str, volume: str) -> k8s.core.v1.PodSpecArgs:
    """Pod of a peer; `volume` is the claim template that holds its data."""
    vector = stack.vector
    return pod_spec(
        containers=[_container(stack, volume)],
        volumes=[
            core.VolumeArgs(
                name="config",
                secret=core.SecretVolumeSourceArgs(
                    secret_name=config_secret,
                    default_mode=0o440,
                    # Named, so that a Secret without the file holds the pod: Qdrant would start, and ask for no key.
                    items=[core.KeyToPathArgs(key=CONFIG_FILE, path=CONFIG_FILE)],
                ),
            ),
            core.VolumeArgs(name="init", empty_dir=core.EmptyDirVolumeSourceArgs(size_limit="1Mi")),
            core.VolumeArgs(name="scratch", empty_dir=core.EmptyDirVolumeSourceArgs(size_limit=f"{SCRATCH_GIB}Gi")),
        ],
        pools={vector.pool: stack.pools[vector.pool]},
        service_account=NAME,
        priority_class=PRIORITY_STANDARD,
        selector=VECTOR.pod_labels,
        grace_seconds=GRACE_SECONDS,
        # Both copies of a collection on one machine would be lost together.
        strict_spread=True,
    )


def _container(stack: Stack, volume: str) -> k8s.core.v1.ContainerArgs:
    vector = stack.vector
    cpus = max(1, int(stack.pools[vector.pool].hardware.cores * CPU_SHARE))

    def probe(path: str, *, period: int, failures: int, timeout: int = 5) -> k8s.core.v1.ProbeArgs:
        return core.ProbeArgs(
            http_get=core.HTTPGetActionArgs(path=path, port="http"),
            period_seconds=period,
            failure_threshold=failures,
            timeout_seconds=timeout,
        )

    ports = {**VECTOR.ports, "p2p": P2P_PORT} if vector.replicas > 1 else VECTOR.ports
    return core.ContainerArgs(
        name="qdrant",
        image=vector.image,
        image_pull_policy="IfNotPresent",
        working_dir=HOME,
        command=["./qdrant"],
        args=_arguments(clustered=vector.replicas > 1),
        env=[*_environment(clustered=vector.replicas > 1)],
        ports=[
            core.ContainerPortArgs(name=name, container_port=number, protocol="TCP") for name, number in ports.items()
        ],
        resources=resources(
            cpu=str(max(1, cpus // 3)),
            memory_gib=vector.memory_gib,
            cpu_limit=str(cpus),
            scratch_gib=SCRATCH_GIB,
        ),
        security_context=container_security(),
        volume_mounts=[
            core.VolumeMountArgs(name=volume, mount_path=STORAGE_PATH),
            core.VolumeMountArgs(name="config", mount_path=KEYS_PATH, read_only=True),
            core.VolumeMountArgs(name="init", mount_path=INIT_PATH),
            core.VolumeMountArgs(name="scratch", mount_path=SCRATCH_PATH),
        ],
        # These three paths are open without the key.
        startup_probe=probe(
            "/livez",
            period=STARTUP_PERIOD_SECONDS,
            failures=startup_seconds(vector.storage_gib) // STARTUP_PERIOD_SECONDS,
        ),
        liveness_probe=probe("/livez", period=10, failures=6),
        readiness_probe=probe("/readyz", period=5, failures=3, timeout=2),
    )


def _arguments(*, clustered: bool) -> list[str]:
    config = ["--config-path", f"{KEYS_PATH}/{CONFIG_FILE}"]
    if not clustered:
        return config

    def uri(pod: str) -> str:
        return f"http://{pod}.{PEERS_SERVICE}.{NAMESPACE_VECTOR}.svc:{P2P_PORT}"

    # Kubernetes puts the pod's own name in. The first peer is told to join itself, which Qdrant takes for a new
    # cluster; once there is a state on the volume, both are only notes.
    return [*config, "--uri", uri("$(POD_NAME)"), "--bootstrap", uri(f"{NAME}-0")]


def _environment(*, clustered: bool) -> list[k8s.core.v1.EnvVarArgs]:
    settings = {
        "RUN_MODE": "production",
        "QDRANT_INIT_FILE_PATH": f"{INIT_PATH}/.qdrant-initialized",
        "QDRANT__TELEMETRY_DISABLED": "true",
        "QDRANT__STORAGE__STORAGE_PATH": STORAGE_PATH,
        # On the data's own volume: a snapshot can be as large as its collection, and moves without being copied.
        "QDRANT__STORAGE__SNAPSHOTS_PATH": f"{STORAGE_PATH}/snapshots",
        "QDRANT__SERVICE__ENABLE_CORS": "false",
        "QDRANT__SERVICE__ENABLE_STATIC_CONTENT": "false",
        "QDRANT__CLUSTER__ENABLED": str(clustered).lower(),
    }
    if clustered:
        settings |= {
            "QDRANT__CLUSTER__P2P__PORT": str(P2P_PORT),
            "QDRANT__STORAGE__COLLECTION__REPLICATION_FACTOR": str(COPIES),
        }
    pod_name = core.EnvVarArgs(
        name="POD_NAME",
        value_from=core.EnvVarSourceArgs(field_ref=core.ObjectFieldSelectorArgs(field_path="metadata.name")),
    )
    return [*([pod_name] if clustered else []), *(core.EnvVarArgs(name=k, value=v) for k, v in settings.items())]

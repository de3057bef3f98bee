"""The pod of an engine. It is built from a `Launch` and knows no engine by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pulumi_kubernetes as k8s

from components.pods import container_security, pod_spec, resources
from lantau.labels import PRIORITY_ONLINE
from lantau.release import Release
from lantau.release.engine_args import (
    CACHE_GIB,
    CACHE_PATH,
    CONFIG_FOLDER,
    SCRATCH_GIB,
    STARTUP_PERIOD_SECONDS,
    WEIGHTS_PATH,
    Launch,
)
from lantau.release.model import PRE_STOP_SECONDS
from lantau.stack import Pool

core = k8s.core.v1

CONTAINER: Final = "engine"
PORT_NAME: Final = "http"


def engine_pod(
    release: Release,
    launch: Launch,
    *,
    pools: Mapping[str, Pool],
    config_map: str,
    service_account: str,
    selector: Mapping[str, str],
) -> k8s.core.v1.PodSpecArgs:
    """Pod that runs `release` on `pools`, of which the first is preferred.

    Nothing in it says whether the release is stable, on trial or kept warm: a promotion must not restart it.
    """
    return pod_spec(
        containers=[_container(release, launch)],
        volumes=_volumes(release, config_map),
        pools=pools,
        service_account=service_account,
        priority_class=PRIORITY_ONLINE,
        selector=selector,
        grace_seconds=release.grace_seconds,
    )


def _container(release: Release, launch: Launch) -> k8s.core.v1.ContainerArgs:
    def mount(name: str, path: str, *, read_only: bool = False) -> k8s.core.v1.VolumeMountArgs:
        return core.VolumeMountArgs(name=name, mount_path=path, read_only=read_only)

    return core.ContainerArgs(
        name=CONTAINER,
        image=release.engine.image,
        image_pull_policy="IfNotPresent",
        command=list(launch.command),
        env=[core.EnvVarArgs(name=key, value=value) for key, value in launch.environment.items()],
        ports=[core.ContainerPortArgs(name=PORT_NAME, container_port=launch.port, protocol="TCP")],
        resources=resources(
            cpu=str(release.resources.cpu),
            memory_gib=release.resources.memory_gib,
            gpus=release.gpus,
            scratch_gib=CACHE_GIB + SCRATCH_GIB,
        ),
        security_context=container_security(),
        volume_mounts=[
            mount("weights", WEIGHTS_PATH, read_only=True),
            mount("config", CONFIG_FOLDER, read_only=True),
            mount("cache", CACHE_PATH),
            mount("scratch", "/tmp"),  # noqa: S108 - an emptyDir of this pod alone
            mount("shared-memory", "/dev/shm"),  # noqa: S108 - as above
        ],
        startup_probe=_probe(launch, period=STARTUP_PERIOD_SECONDS, failures=launch.startup_failures, timeout=5),
        # A busy engine may answer late: it is restarted after a minute without an answer, not after one late one.
        liveness_probe=_probe(launch, period=10, failures=6, timeout=5),
        readiness_probe=_probe(launch, period=2, failures=3, timeout=2),
        lifecycle=core.LifecycleArgs(
            pre_stop=core.LifecycleHandlerArgs(sleep=core.SleepActionArgs(seconds=PRE_STOP_SECONDS))
        ),
    )


def _probe(launch: Launch, *, period: int, failures: int, timeout: int) -> k8s.core.v1.ProbeArgs:
    return core.ProbeArgs(
        http_get=core.HTTPGetActionArgs(path=launch.health_path, port=PORT_NAME),
        period_seconds=period,
        failure_threshold=failures,
        timeout_seconds=timeout,
    )


def _volumes(release: Release, config_map: str) -> list[k8s.core.v1.VolumeArgs]:
    def empty(name: str, gib: int, *, in_memory: bool = False) -> k8s.core.v1.VolumeArgs:
        return core.VolumeArgs(
            name=name,
            empty_dir=core.EmptyDirVolumeSourceArgs(medium="Memory" if in_memory else None, size_limit=f"{gib}Gi"),
        )

    return [
        # The kubelet pulls the image by digest and mounts it; the engine downloads nothing.
        core.VolumeArgs(
            name="weights",
            image=core.ImageVolumeSourceArgs(reference=release.model.image, pull_policy="IfNotPresent"),
        ),
        core.VolumeArgs(name="config", config_map=core.ConfigMapVolumeSourceArgs(name=config_map)),
        empty("cache", CACHE_GIB),
        empty("scratch", SCRATCH_GIB),
        empty("shared-memory", release.resources.shared_memory_gib, in_memory=True),
    ]

"""The shape of every pod: Pod Security `restricted`, read-only root, no token, placed on its own pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi_kubernetes as k8s

from lantau.labels import POOL_LABEL, ROLE_TAINT
from lantau.stack import Pool

core = k8s.core.v1

NON_ROOT_ID = 10001
"""User, group and volume group of every container: no user that a host may have, and whatever a pod writes to is a
volume, so that no image needs another one."""
LOG_GIB = 1
"""Disk of the node for a container's logs: the kubelet rotates them at 50 MiB unless it is told otherwise."""


def container_security() -> k8s.core.v1.SecurityContextArgs:
    """What `restricted` asks of a container, and a root file system that nobody can write to."""
    return core.SecurityContextArgs(
        allow_privilege_escalation=False,
        privileged=False,
        read_only_root_filesystem=True,
        run_as_non_root=True,
        capabilities=core.CapabilitiesArgs(drop=["ALL"]),
        seccomp_profile=core.SeccompProfileArgs(type="RuntimeDefault"),
    )


def pod_security() -> k8s.core.v1.PodSecurityContextArgs:
    """Identity of a pod: one user as user, group and owner of its volumes."""
    return core.PodSecurityContextArgs(
        run_as_non_root=True,
        run_as_user=NON_ROOT_ID,
        run_as_group=NON_ROOT_ID,
        fs_group=NON_ROOT_ID,
        fs_group_change_policy="OnRootMismatch",
        seccomp_profile=core.SeccompProfileArgs(type="RuntimeDefault"),
    )


def resources(
    *, cpu: str, memory_gib: float, gpus: int = 0, cpu_limit: str | None = None, scratch_gib: int = 0
) -> k8s.core.v1.ResourceRequirementsArgs:
    """Requests and limits of a container; all but CPU are equal in both, so that no node is overcommitted.

    `scratch_gib` is what the pod's emptyDir volumes on disk may hold together; logs come on top.
    """
    equal = {"memory": f"{round(memory_gib * 1024)}Mi", "ephemeral-storage": f"{scratch_gib + LOG_GIB}Gi"}
    if gpus:
        equal["nvidia.com/gpu"] = str(gpus)
    return core.ResourceRequirementsArgs(requests={"cpu": cpu, **equal}, limits={"cpu": cpu_limit or cpu, **equal})


def placement(pools: Mapping[str, Pool]) -> tuple[k8s.core.v1.AffinityArgs, list[k8s.core.v1.TolerationArgs]]:
    """Affinity and tolerations that keep a pod on `pools`: the first is preferred, the others are for overflow."""
    names = list(pools)
    required = core.NodeSelectorArgs(
        node_selector_terms=[
            core.NodeSelectorTermArgs(
                match_expressions=[core.NodeSelectorRequirementArgs(key=POOL_LABEL, operator="In", values=names)]
            )
        ]
    )
    preferred = [
        core.PreferredSchedulingTermArgs(
            weight=100,
            preference=core.NodeSelectorTermArgs(
                match_expressions=[core.NodeSelectorRequirementArgs(key=POOL_LABEL, operator="In", values=names[:1])]
            ),
        )
    ]
    affinity = core.AffinityArgs(
        node_affinity=core.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=required,
            preferred_during_scheduling_ignored_during_execution=preferred if len(names) > 1 else None,
        )
    )
    tolerations = [
        core.TolerationArgs(key=ROLE_TAINT, operator="Equal", value=role, effect="NoSchedule")
        for role in sorted({pool.role.value for pool in pools.values() if pool.role.tainted})
    ]
    return affinity, tolerations


def spread_over_nodes(
    selector: Mapping[str, str], *, strict: bool = False
) -> list[k8s.core.v1.TopologySpreadConstraintArgs]:
    """Spread the pods of a workload over nodes as evenly as the nodes allow; `strict` rather lets a pod wait."""
    return [
        core.TopologySpreadConstraintArgs(
            max_skew=1,
            topology_key="kubernetes.io/hostname",
            when_unsatisfiable="DoNotSchedule" if strict else "ScheduleAnyway",
            label_selector=k8s.meta.v1.LabelSelectorArgs(match_labels=dict(selector)),
        )
    ]


def pod_spec(
    *,
    containers: Sequence[k8s.core.v1.ContainerArgs],
    pools: Mapping[str, Pool],
    service_account: str,
    priority_class: str,
    selector: Mapping[str, str],
    volumes: Sequence[k8s.core.v1.VolumeArgs] = (),
    init_containers: Sequence[k8s.core.v1.ContainerArgs] = (),
    grace_seconds: int = 30,
    restart_policy: str | None = None,
    strict_spread: bool = False,
) -> k8s.core.v1.PodSpecArgs:
    """Spec of a pod that is admitted under `restricted`, mounts no token and runs on `pools` only.

    `selector` is the workload's own label selector; `grace_seconds` is the termination grace period.
    `strict_spread` never puts one pod more than needed on a node: for pods that are each other's copies.
    """
    affinity, tolerations = placement(pools)
    return core.PodSpecArgs(
        containers=list(containers),
        init_containers=list(init_containers) or None,
        volumes=list(volumes) or None,
        service_account_name=service_account,
        automount_service_account_token=False,
        # A Service named like an engine would inject variables that the engine takes for its own (VLLM_PORT).
        enable_service_links=False,
        priority_class_name=priority_class,
        security_context=pod_security(),
        affinity=affinity,
        tolerations=tolerations or None,
        topology_spread_constraints=spread_over_nodes(selector, strict=strict_spread),
        termination_grace_period_seconds=grace_seconds,
        restart_policy=restart_policy,
    )

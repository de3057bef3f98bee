"""Work without a waiting user, on cards that online models may take back at any moment."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.pods import container_security, pod_spec, resources
from lantau import stack
from lantau.labels import NAMESPACE_BATCH, PRIORITY_BATCH, standard_labels
from lantau.platform import Platform

core = k8s.core.v1

GRACE_SECONDS: Final = 10
"""An online pod that takes a card waits this long for the job's pod to go."""
CPU_SHARE: Final = 0.75
"""Share of a machine's cores that pods get when all its cards are in use; the rest is for the system and its agents."""
SCRATCH_GIB: Final = 20


@dataclass(frozen=True)
class BatchJobArgs:
    """A batch job of a checked platform."""

    platform: Platform
    name: str
    """Name of the job in the stack."""

    @property
    def job(self) -> stack.BatchJob:
        """The job as the stack describes it."""
        return self.platform.stack.batch[self.name]

    @property
    def pool(self) -> stack.Pool:
        """The offline pool that runs it."""
        return self.platform.stack.pools[self.job.pool]

    @property
    def cpus(self) -> int:
        """Cores of each pod: the share of the machine that goes with its cards."""
        machine = self.pool.hardware
        return max(1, int(machine.cores * CPU_SHARE * self.job.gpus / machine.cards))

    @property
    def kubernetes_name(self) -> str:
        """Name of the Job: a Job's template cannot change, so another job is another name."""
        content = json.dumps({"job": self.job.model_dump(mode="json"), "cpus": self.cpus}, sort_keys=True)
        return f"{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class BatchJobResources:
    """What a batch job consists of."""

    account: k8s.core.v1.ServiceAccount
    job: k8s.batch.v1.Job


class BatchJob(Component):
    """A Job on an offline pool. Being preempted is no failure of it, and `up` does not wait for its end."""

    TOKEN: ClassVar[str] = "lantau:inference:BatchJob"

    resources: BatchJobResources

    def __init__(self, name: str, args: BatchJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        labels = standard_labels(args.name, instance=args.kubernetes_name, tier="batch")
        account = core.ServiceAccount(
            f"{name}-account",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=args.name,
                namespace=NAMESPACE_BATCH,
                labels=standard_labels(args.name, instance=args.name, tier="batch"),
            ),
            automount_service_account_token=False,
            opts=self.child(),
        )
        job = k8s.batch.v1.Job(
            f"{name}-job",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=args.kubernetes_name,
                namespace=NAMESPACE_BATCH,
                labels=labels,
                annotations={"pulumi.com/skipAwait": "true"},
            ),
            spec=_spec(args, labels),
            opts=self.child(depends_on=[account]),
        )
        self.resources = BatchJobResources(account, job)
        self.finish({"job": args.kubernetes_name, "namespace": NAMESPACE_BATCH})


def _spec(args: BatchJobArgs, labels: dict[str, str]) -> k8s.batch.v1.JobSpecArgs:
    job = args.job
    # No time-to-live: a finished Job that deletes itself would be made, and run, once more by the next `up`.
    return k8s.batch.v1.JobSpecArgs(
        parallelism=job.parallelism,
        completions=job.completions,
        # Each pod learns from JOB_COMPLETION_INDEX which part is its own.
        completion_mode="Indexed",
        backoff_limit=job.retries,
        # The wait before the next attempt doubles with each pod that ended, preempted ones too. Counted for each part
        # by itself it starts at ten seconds; counted together, eight pods that gave way would wait for ten minutes.
        backoff_limit_per_index=job.retries,
        pod_replacement_policy="Failed",
        pod_failure_policy=k8s.batch.v1.PodFailurePolicyArgs(
            rules=[
                k8s.batch.v1.PodFailurePolicyRuleArgs(
                    action="Ignore",
                    on_pod_conditions=[
                        k8s.batch.v1.PodFailurePolicyOnPodConditionsPatternArgs(type="DisruptionTarget", status="True")
                    ],
                )
            ]
        ),
        template=core.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(labels=labels),
            spec=pod_spec(
                containers=[_container(args)],
                volumes=[
                    core.VolumeArgs(
                        name="scratch", empty_dir=core.EmptyDirVolumeSourceArgs(size_limit=f"{SCRATCH_GIB}Gi")
                    )
                ],
                pools={job.pool: args.pool},
                service_account=args.name,
                priority_class=PRIORITY_BATCH,
                selector={"app.kubernetes.io/instance": args.kubernetes_name},
                grace_seconds=GRACE_SECONDS,
                restart_policy="Never",
            ),
        ),
    )


def _container(args: BatchJobArgs) -> k8s.core.v1.ContainerArgs:
    job = args.job
    return core.ContainerArgs(
        name="job",
        image=job.image,
        image_pull_policy="IfNotPresent",
        command=list(job.command),
        env=[
            core.EnvVarArgs(name="HOME", value="/tmp"),  # noqa: S108 - an emptyDir of this pod alone
            core.EnvVarArgs(name="USER", value="lantau"),
        ],
        resources=resources(cpu=str(args.cpus), memory_gib=job.memory_gib, gpus=job.gpus, scratch_gib=SCRATCH_GIB),
        security_context=container_security(),
        volume_mounts=[core.VolumeMountArgs(name="scratch", mount_path="/tmp")],  # noqa: S108 - as above
    )

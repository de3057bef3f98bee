"""The vector store's backup: each night a snapshot of every collection goes to a bucket outside the cluster."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.network import Peer, allow_addresses, allow_egress, allow_ingress
from components.pods import container_security, pod_spec, resources
from components.secrets import Delivery, DeliveryArgs, ManagedKey
from components.secrets.store import AUDIENCE, role_arn
from components.vector.peer import NAME as STORE
from components.vector.peer import PEERS_SERVICE
from lantau.endpoints import VECTOR, VECTOR_KEY_FIELD
from lantau.labels import NAMESPACE_VECTOR, PRIORITY_STANDARD, TIER_LABEL, standard_labels
from lantau.platform import Platform
from lantau.stack import VectorBackup as Wanted

core = k8s.core.v1
meta = k8s.meta.v1

NAME: Final = f"{STORE}-backup"
LABELS: Final = {"app.kubernetes.io/name": NAME, TIER_LABEL: "vector"}
SCRIPT: Final = Path(__file__).with_name("snapshots.py")
SCRIPT_PATH: Final = "/etc/lantau"
KEY_PATH: Final = "/run/secrets/lantau"
KEY_FILE: Final = "api-key"
TOKEN_PATH: Final = "/run/secrets/sts"
TOKEN_FILE: Final = "token"
TOKEN_SECONDS: Final = 3600
"""The kubelet renews the token in time, and the AWS client reads it anew."""
SCRATCH_PATH: Final = "/tmp"  # noqa: S108 - an emptyDir of the pod alone
SCRATCH_GIB: Final = 1
MEMORY_GIB: Final = 2
RETRIES: Final = 2
TIME_ZONE: Final = "Asia/Hong_Kong"
START_WITHIN_SECONDS: Final = 3600
LONGEST_SECONDS: Final = 12 * 3600
HTTPS: Final = 443


def secret_name(platform: Platform) -> str:
    """Secret with the key by which the backup reads the store."""
    return f"{NAME}-key-{platform.stack.secrets.epoch}"


@dataclass(frozen=True)
class VectorBackupArgs:
    """A checked platform whose vector store has a backup, and the store's key."""

    platform: Platform
    key: ManagedKey

    @property
    def wanted(self) -> Wanted:
        """The backup as the stack describes it; ValueError where it describes none."""
        if self.platform.stack.vector.backup is None:
            raise ValueError("vector.backup: the stack asks for no backup")
        return self.platform.stack.vector.backup


@dataclass(frozen=True)
class VectorBackupResources:
    """What the backup consists of."""

    delivery: Delivery
    account: k8s.core.v1.ServiceAccount
    script: k8s.core.v1.ConfigMap
    cron_job: k8s.batch.v1.CronJob
    flows: tuple[k8s.networking.v1.NetworkPolicy, ...]


class VectorBackup(Component):
    """A CronJob that may read the store and write to one place of one bucket, and can reach nothing else.

    It deletes nothing in the bucket: how long backups stay is the bucket's own rule, and whoever took this pod could
    not take the backups too.
    """

    TOKEN: ClassVar[str] = "lantau:vector:VectorBackup"

    resources: VectorBackupResources
    role: str
    """ARN of the role that the account's token is exchanged for."""

    def __init__(self, name: str, args: VectorBackupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        platform = args.platform
        self.role = role_arn(platform.name, platform.stack.secrets, NAME)
        self._labels = standard_labels(NAME, instance=NAME, tier="vector")
        delivery = Delivery(
            f"{name}-key",
            DeliveryArgs(
                namespace=NAMESPACE_VECTOR,
                secret_name=secret_name(platform),
                files={KEY_FILE: "{{ .key }}"},
                values={"key": args.key.field(VECTOR_KEY_FIELD)},
            ),
            self.child(),
        )
        account = core.ServiceAccount(
            f"{name}-account", metadata=self._metadata(NAME), automount_service_account_token=False, opts=self.child()
        )
        text = SCRIPT.read_text(encoding="utf-8")
        script_name = f"{NAME}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        script = core.ConfigMap(
            f"{name}-script",
            metadata=self._metadata(script_name),
            immutable=True,
            data={SCRIPT.name: text},
            opts=self.child(),
        )
        flows = self._flows(args.wanted)
        cron_job = self._cron_job(name, args, script_name, [delivery, account, script, *flows])
        self.resources = VectorBackupResources(delivery, account, script, cron_job, flows)
        self.finish({"bucket": args.wanted.bucket, "schedule": args.wanted.schedule, "role": self.role})

    def _metadata(self, name: str) -> k8s.meta.v1.ObjectMetaArgs:
        return meta.ObjectMetaArgs(name=name, namespace=NAMESPACE_VECTOR, labels=self._labels)

    def _flows(self, wanted: Wanted) -> tuple[k8s.networking.v1.NetworkPolicy, ...]:
        store, pods = Peer(NAMESPACE_VECTOR, VECTOR.pod_labels), Peer(NAMESPACE_VECTOR, LABELS)
        port = [VECTOR.ports["http"]]
        return (
            allow_ingress("qdrant-from-backup", NAMESPACE_VECTOR, VECTOR.pod_labels, [pods], port, self.child()),
            allow_egress("backup-to-qdrant", NAMESPACE_VECTOR, LABELS, [store], port, self.child()),
            allow_addresses("backup-to-bucket", NAMESPACE_VECTOR, LABELS, wanted.addresses, [HTTPS], self.child()),
        )

    def _cron_job(
        self, name: str, args: VectorBackupArgs, script_name: str, depends_on: list[pulumi.Resource]
    ) -> k8s.batch.v1.CronJob:
        stack = args.platform.stack
        pod = pod_spec(
            containers=[self._container(args)],
            volumes=_volumes(script_name, secret_name(args.platform)),
            pools={stack.vector.pool: stack.pools[stack.vector.pool]},
            service_account=NAME,
            priority_class=PRIORITY_STANDARD,
            selector=LABELS,
            restart_policy="Never",
        )
        return k8s.batch.v1.CronJob(
            f"{name}-cron-job",
            metadata=self._metadata(NAME),
            spec=k8s.batch.v1.CronJobSpecArgs(
                schedule=args.wanted.schedule,
                time_zone=TIME_ZONE,
                concurrency_policy="Forbid",
                starting_deadline_seconds=START_WITHIN_SECONDS,
                successful_jobs_history_limit=3,
                failed_jobs_history_limit=3,
                job_template=k8s.batch.v1.JobTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels=self._labels),
                    spec=k8s.batch.v1.JobSpecArgs(
                        backoff_limit=RETRIES,
                        active_deadline_seconds=LONGEST_SECONDS,
                        template=core.PodTemplateSpecArgs(metadata=meta.ObjectMetaArgs(labels=self._labels), spec=pod),
                    ),
                ),
            ),
            opts=self.child(depends_on=depends_on),
        )

    def _container(self, args: VectorBackupArgs) -> k8s.core.v1.ContainerArgs:
        stack = args.platform.stack

        def url(ordinal: int) -> str:
            return f"http://{STORE}-{ordinal}.{PEERS_SERVICE}.{NAMESPACE_VECTOR}.svc:{VECTOR.ports['http']}"

        environment = {
            # Each by itself: a snapshot holds the shards of the peer that made it.
            "PEERS": ",".join(url(ordinal) for ordinal in range(stack.vector.replicas)),
            "API_KEY_FILE": f"{KEY_PATH}/{KEY_FILE}",
            "BUCKET": args.wanted.bucket,
            "PREFIX": f"lantau/{args.platform.name}/{STORE}",
            "AWS_REGION": stack.secrets.region,
            "AWS_DEFAULT_REGION": stack.secrets.region,
            "AWS_ROLE_ARN": self.role,
            "AWS_ROLE_SESSION_NAME": NAME,
            "AWS_WEB_IDENTITY_TOKEN_FILE": f"{TOKEN_PATH}/{TOKEN_FILE}",
            "HOME": SCRATCH_PATH,
        }
        return core.ContainerArgs(
            name="backup",
            image=args.wanted.image,
            image_pull_policy="IfNotPresent",
            command=["python3", f"{SCRIPT_PATH}/{SCRIPT.name}"],
            args=["backup"],
            env=[core.EnvVarArgs(name=key, value=value) for key, value in environment.items()],
            resources=resources(cpu="500m", memory_gib=MEMORY_GIB, cpu_limit="2", scratch_gib=SCRATCH_GIB),
            security_context=container_security(),
            volume_mounts=[
                core.VolumeMountArgs(name="script", mount_path=SCRIPT_PATH, read_only=True),
                core.VolumeMountArgs(name="key", mount_path=KEY_PATH, read_only=True),
                core.VolumeMountArgs(name="token", mount_path=TOKEN_PATH, read_only=True),
                core.VolumeMountArgs(name="scratch", mount_path=SCRATCH_PATH),
            ],
        )


def _volumes(script: str, secret: str) -> list[k8s.core.v1.VolumeArgs]:
    token = core.ServiceAccountTokenProjectionArgs(audience=AUDIENCE, expiration_seconds=TOKEN_SECONDS, path=TOKEN_FILE)
    return [
        core.VolumeArgs(name="script", config_map=core.ConfigMapVolumeSourceArgs(name=script)),
        core.VolumeArgs(
            name="key",
            secret=core.SecretVolumeSourceArgs(
                secret_name=secret, default_mode=0o440, items=[core.KeyToPathArgs(key=KEY_FILE, path=KEY_FILE)]
            ),
        ),
        core.VolumeArgs(
            name="token",
            projected=core.ProjectedVolumeSourceArgs(
                default_mode=0o440,
                sources=[core.VolumeProjectionArgs(service_account_token=token)],
            ),
        ),
        core.VolumeArgs(name="scratch", empty_dir=core.EmptyDirVolumeSourceArgs(size_limit=f"{SCRATCH_GIB}Gi")),
    ]

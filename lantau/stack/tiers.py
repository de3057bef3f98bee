"""The tiers around the models: business, vector store and batch."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from lantau.modelling import Frozen, ImageByDigest, Name, RuleViolation
from lantau.problems import bare

WIDEST_BLOCK: Final = {4: 16, 6: 48}
"""Shortest prefix of a block of addresses by IP version: a way out for one purpose is no way out to everywhere."""

HostName = Annotated[
    str,
    StringConstraints(pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z]{2,}$", max_length=253),
    Field(examples=["ai.example.hk"]),
]


class Backend(Frozen):
    """The business backend: takes requests from the edge gateway, queues them, asks models and the vector store."""

    image: ImageByDigest
    """Container image, by digest. It listens on `port` and answers GET `health_path` once it can serve."""
    replicas: int = Field(default=2, ge=1, le=50)
    """Number of pods."""
    port: int = Field(default=8080, ge=1024, le=65535)
    """TCP port that the container listens on."""
    health_path: str = Field(default="/healthz", pattern=r"^/[\w/.\-]*$")
    """Path of the readiness and liveness probe."""
    cpus: int = Field(default=1, ge=1, le=128)
    """Cores that each pod is sure of; it may use twice as many when its node has them to spare."""
    memory_gib: int = Field(default=2, ge=1, le=512)
    """Memory of each pod, GiB."""


class Queue(Frozen):
    """Redis as task queue and result cache."""

    image: ImageByDigest
    """Redis image, by digest; 7.0 or later."""
    storage_gib: int = Field(default=20, ge=1, le=10_000)
    """Size of the volume for the append-only file, GiB."""
    memory_gib: int = Field(default=4, ge=1, le=256)
    """Memory limit of the pod, GiB; Redis itself gets three quarters of it."""


class Business(Frozen):
    """Users' entry: edge gateway, backend and queue."""

    pool: str
    """Business pool that runs the tier."""
    host: HostName
    """Public host name of the edge gateway."""
    tls_secret: str = Field(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", examples=["edge-tls"])
    """TLS Secret in the business namespace, made by cert-manager or External Secrets, never by this program."""
    clients: tuple[Name, ...] = Field(default=("default",), min_length=1, max_length=40, examples=["[web, partner-a]"])
    """Callers of the edge gateway. Each gets an API key of its own in the managed store, kept until its name goes."""
    requests_per_second: int = Field(default=20, ge=1, le=100_000)
    """Requests that each client may send in a second, counted by each proxy of the edge gateway for itself."""
    backend: Backend
    """The team's own service."""
    queue: Queue
    """Task queue."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if twice := sorted({name for name in self.clients if self.clients.count(name) > 1}):
            raise RuleViolation(("clients",), f"these clients are named twice: {', '.join(map(bare, twice))}")
        return self


def _addresses(block: str) -> str:
    try:
        network = ip_network(block)
    except ValueError:
        raise ValueError("must be a block of addresses such as 10.20.30.0/28, its other bits 0") from None
    if network.prefixlen < WIDEST_BLOCK[network.version]:
        raise ValueError(f"is wider than /{WIDEST_BLOCK[network.version]}: name the endpoint's own addresses")
    return str(network)


class VectorBackup(Frozen):
    """Snapshots of every collection, in a bucket of the secrets' AWS account and region."""

    image: ImageByDigest
    """Container image, by digest, with python3 3.11 or later and boto3."""
    bucket: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", examples=["example-hk-prod-vectors"])
    """Bucket. How long backups stay in it is its own lifecycle rule: the backup deletes nothing."""
    addresses: tuple[Annotated[str, AfterValidator(_addresses)], ...] = Field(
        min_length=1, max_length=16, examples=["[10.20.30.0/28]"]
    )
    """Where S3 and STS are reached: the blocks of the account's VPC endpoints. The pod can reach nothing else."""
    schedule: str = Field(default="30 3 * * *", pattern=r"^[\d*,/-]+( [\d*,/-]+){4}$")
    """When, as cron writes it, in Hong Kong's time."""


class Vector(Frozen):
    """Qdrant as vector store."""

    pool: str
    """Data pool that runs the store."""
    image: ImageByDigest
    """Qdrant image, by digest; 1.13.3 or later, the unprivileged variant."""
    replicas: int = Field(default=1, ge=1, le=15)
    """Number of Qdrant peers."""
    storage_gib: int = Field(default=200, ge=1, le=30_000)
    """Size of each peer's volume, GiB."""
    memory_gib: int = Field(default=16, ge=1, le=1024)
    """Memory limit of a peer, GiB."""
    few_replicas_because: str | None = Field(default=None, min_length=10, max_length=200)
    """Why a live stage does with fewer than three peers, although searches stop when one of them does."""
    backup: VectorBackup | None = None
    """Nightly backup; none where the vectors can be made again."""


class BatchJob(Frozen):
    """Work without a waiting user: it runs on an offline pool and gives way to online models."""

    pool: str
    """Offline pool that runs the job."""
    image: ImageByDigest
    """Container image, by digest."""
    command: tuple[str, ...] = Field(min_length=1, examples=['["python", "-m", "batch"]'])
    """Command of the container."""
    gpus: int = Field(default=1, ge=1, le=16)
    """Cards of each pod."""
    parallelism: int = Field(default=1, ge=1, le=256)
    """Pods that run at the same time."""
    completions: int = Field(default=1, ge=1, le=100_000)
    """Pods that must succeed before the job is done."""
    memory_gib: int = Field(default=16, ge=1, le=2048)
    """Memory of each pod, GiB."""
    retries: int = Field(default=6, ge=0, le=1000)
    """Failures before the job is given up; a preempted pod does not count."""

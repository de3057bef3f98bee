"""The root of a stack and the rules between its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from lantau.modelling import Frozen, Name, RuleViolation, RuleViolations
from lantau.problems import bare, nearest, shown
from lantau.stack.models import ServedModel
from lantau.stack.pools import Pool, Role
from lantau.stack.tiers import BatchJob, Business, Vector

LONGEST_WORKLOAD_NAME = 46
"""Kubernetes names of Services end at 63 characters; a hash and a suffix need the rest."""


class Stage(StrEnum):
    """How far the platform has grown (founding document S2)."""

    TEST = "test"
    GRAY = "gray"
    PRODUCTION = "production"
    GROWTH = "growth"

    @property
    def live(self) -> bool:
        """Whether paying users depend on it, so that nothing may stand on one leg."""
        return self in (Stage.PRODUCTION, Stage.GROWTH)


class Cluster(Frozen):
    """The Kubernetes cluster that the stack owns."""

    context: str = Field(min_length=1, max_length=253, examples=["hk-prod"])
    """Context in the kubeconfig. The current context is never used."""
    uid: UUID | None = None
    """UID of the cluster's kube-system namespace. When given, any other cluster behind the context is refused."""
    storage_class: str | None = Field(default=None, examples=["local-nvme"])
    """StorageClass of the platform's volumes; the cluster's default when left out."""


class SecretStore(Frozen):
    """AWS Secrets Manager, where every key of the platform is made and kept."""

    region: str = Field(default="ap-east-1", pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")
    """AWS region of the store; ap-east-1 is Hong Kong."""
    account: Annotated[str, StringConstraints(pattern=r"^[0-9]{12}$"), Field(examples=['"123456789012"'])]
    """AWS account, twelve digits in quotes. Pods of a tier read the store as role lantau-<stack>-<tier> of it."""
    epoch: int = Field(default=1, ge=1)
    """Rotation epoch of the generated keys: one higher makes new values, the old ones stay valid as AWSPREVIOUS."""
    recovery_days: int = Field(default=30, ge=7, le=30)
    """Days during which a deleted key can be restored."""
    third_party: tuple[str, ...] = ()
    """Names in the store of keys that people put there; their existence is checked before anything is deployed."""


class Stack(Frozen):
    """One environment of the platform."""

    stage: Stage = Field(examples=["production"])
    """test, gray, production or growth; what a stage demands is checked."""
    cluster: Cluster
    """Where the stack is deployed."""
    protect_data: bool = True
    """Whether resources that hold data refuse to be deleted. Only a stage without users may switch it off."""
    pools: dict[Name, Pool] = Field(min_length=1)
    """Node pools by name."""
    secrets: SecretStore
    """The managed store of keys."""
    business: Business
    """Business tier."""
    vector: Vector
    """Vector-database tier."""
    models: dict[Name, ServedModel] = Field(min_length=1)
    """Served models by the name that callers use."""
    batch: dict[Name, BatchJob] = Field(default_factory=dict)
    """Batch jobs by name."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        violations = list(self._violations())
        if violations:
            raise RuleViolations(violations)
        return self

    def _violations(self) -> Iterator[RuleViolation]:
        yield from self._pool_violations()
        owners = Counter(node for pool in self.pools.values() for node in pool.nodes)
        for node in sorted(node for node, count in owners.items() if count > 1):
            named = [name for name, pool in self.pools.items() if node in pool.nodes]
            yield RuleViolation(
                ("pools", named[-1], "nodes"),
                f"{bare(node)} is already in pool {named[0]}; a node is in one pool only",
            )
        for name, model in self.models.items():
            for release, _ in model.replicas_by_release():
                if len(name) + len(release) > LONGEST_WORKLOAD_NAME - 1:
                    yield RuleViolation(
                        ("models", name),
                        f"the names of model and release name pods: at most {LONGEST_WORKLOAD_NAME} characters",
                    )
        if self.stage.live:
            yield from self._live_violations()

    def _pool_violations(self) -> Iterator[RuleViolation]:
        uses = [
            (("business", "pool"), self.business.pool, Role.BUSINESS),
            (("vector", "pool"), self.vector.pool, Role.DATA),
            *((("models", name, "pool"), model.pool, Role.ONLINE) for name, model in self.models.items()),
            *((("batch", name, "pool"), job.pool, Role.OFFLINE) for name, job in self.batch.items()),
        ]
        for path, pool, role in uses:
            fitting = [name for name, candidate in self.pools.items() if candidate.role is role]
            if pool not in self.pools:
                yield RuleViolation(path, f"there is no pool {shown(pool)}. {nearest(pool, list(self.pools))}")
            elif self.pools[pool].role is not role:
                hint = (
                    f"pool: {fitting[0]}" if fitting else f"pools: {{<name>: {{role: {role}, machine: …, nodes: […]}}}}"
                )
                yield RuleViolation(
                    path, f"{pool} is a pool for {self.pools[pool].role} work; this needs role {role}", fix=hint
                )
        for name, model in self.models.items():
            if model.overflow is None:
                continue
            path = ("models", name, "overflow")
            if model.overflow not in self.pools:
                yield RuleViolation(
                    path, f"there is no pool {shown(model.overflow)}. {nearest(model.overflow, list(self.pools))}"
                )
            elif not self.pools[model.overflow].shared_with_online:
                yield RuleViolation(
                    path,
                    f"{model.overflow} is not shared with online models",
                    fix=f"pools: {{{model.overflow}: {{shared_with_online: true}}}}   # offline pools only",
                )

    def _live_violations(self) -> Iterator[RuleViolation]:
        if not self.protect_data:
            yield RuleViolation(("protect_data",), f"{self.stage} keeps its data protected", fix="protect_data: true")
        for path, pool in (
            (("business", "pool"), self.business.pool),
            *((("models", name, "pool"), model.pool) for name, model in self.models.items()),
        ):
            nodes = len(self.pools[pool].nodes)
            if nodes < 2:
                yield RuleViolation(
                    path,
                    f"{self.stage} has no single point of failure (E4), and pool {pool} has {nodes} node",
                    fix=f"pools: {{{pool}: {{nodes: [<first>, <second>]}}}}",
                )
        if self.business.backend.replicas < 2:
            yield RuleViolation(
                ("business", "backend", "replicas"), f"{self.stage} needs at least 2 (E4)", fix="replicas: 2"
            )
        for name, model in self.models.items():
            if model.replicas < 2:
                yield RuleViolation(
                    ("models", name, "replicas"), f"{self.stage} needs at least 2 (E4)", fix="replicas: 2"
                )

    def pools_of(self, role: Role) -> dict[str, Pool]:
        """Pools of one role by name, sorted by name."""
        return {name: pool for name, pool in sorted(self.pools.items()) if pool.role is role}

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
from lantau.stack.identities import Identities
from lantau.stack.models import ServedModel
from lantau.stack.network import Network
from lantau.stack.pools import Pool, Role
from lantau.stack.retention import Retention
from lantau.stack.rollout import Rollout, Step
from lantau.stack.stages import stack_violations
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


class ScenarioName(StrEnum):
    """The business that a stack serves (founding document S2, section 9)."""

    ASSISTANT = "assistant"
    IMAGES = "images"
    KNOWLEDGE = "knowledge"
    MEDIA = "media"


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
    scenario: ScenarioName | None = Field(default=None, examples=["assistant"])
    """Business that the stack serves: assistant, images, knowledge or media; `lantau advise --stack` goes by it."""
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
    network: Network | None = None
    """The line that users come by."""
    identities: Identities = Identities()
    """Who has which role: groups of the identity provider."""
    retention: Retention = Retention()
    """How long audit events are kept."""
    rollout: Rollout | None = None
    """Who is let in yet; everybody when left out."""

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
        yield from self._client_violations()
        # Rules of stages follow the pools that the stack names.
        if all(pool in self.pools for _, pool, _ in self._uses()):
            yield from stack_violations(self)

    def _uses(self) -> Iterator[tuple[tuple[str, ...], str, Role]]:
        """Every pool that the stack names, with the path of the name and the role that it needs."""
        yield ("business", "pool"), self.business.pool, Role.BUSINESS
        yield ("vector", "pool"), self.vector.pool, Role.DATA
        yield from ((("models", name, "pool"), model.pool, Role.ONLINE) for name, model in self.models.items())
        yield from ((("batch", name, "pool"), job.pool, Role.OFFLINE) for name, job in self.batch.items())

    def _pool_violations(self) -> Iterator[RuleViolation]:
        for path, pool, role in self._uses():
            fitting = [name for name, candidate in self.pools.items() if candidate.role is role]
            if pool not in self.pools:
                yield RuleViolation(path, f"there is no pool {shown(pool)}. {nearest(pool, list(self.pools))}")
            elif self.pools[pool].role is not role and role.gpu:
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

    def _client_violations(self) -> Iterator[RuleViolation]:
        if self.rollout is None:
            return
        clients = self.business.clients
        for audience, named in (("team", self.rollout.audiences.team), ("internal", self.rollout.audiences.internal)):
            for place, client in enumerate(named):
                if client not in clients:
                    yield RuleViolation(
                        ("rollout", "audiences", audience, place),
                        f"{shown(client)} is no client of the business tier. {nearest(client, clients)}",
                        fix=f"business: {{clients: [{', '.join(map(bare, (*clients, client)))}]}}",
                    )
        if not self.clients_let_in:
            yield RuleViolation(
                ("rollout", "step"),
                f"nobody is let in at step {self.rollout.step}: no client is in the audiences that it reaches",
                fix=f"audiences: {{team: [{bare(clients[0])}]}}",
            )

    @property
    def clients_let_in(self) -> tuple[str, ...]:
        """Clients that the roll-out has reached, sorted; all of them without a roll-out."""
        rollout = self.rollout
        return tuple(sorted(name for name in self.business.clients if rollout is None or rollout.reached(name)))

    def requests_per_second(self, client: str) -> int:
        """Requests that a client may send in a second: its share at step partial when it is public, at least one."""
        full = self.business.requests_per_second
        rollout = self.rollout
        if rollout is None or rollout.step is not Step.PARTIAL or not rollout.public(client):
            return full
        return max(1, full * rollout.share // 100)

    def pools_of(self, role: Role) -> dict[str, Pool]:
        """Pools of one role by name, sorted by name."""
        return {name: pool for name, pool in sorted(self.pools.items()) if pool.role is role}

"""What every namespace of the platform starts with: admission, network, priorities and quotas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.cluster.access import access
from components.network import allow_dns, deny_all
from lantau.labels import (
    GPU_RESOURCE,
    NAMESPACE_BATCH,
    NAMESPACE_BUSINESS,
    NAMESPACE_INFERENCE,
    NAMESPACE_SYSTEM,
    NAMESPACE_VECTOR,
    NAMESPACES,
    PRIORITY_BATCH,
    PRIORITY_ONLINE,
    PRIORITY_STANDARD,
    standard_labels,
)
from lantau.stack import Identities

POD_SECURITY_VERSION: Final = "v1.36"
"""Release of Kubernetes whose `restricted` profile is meant. Pinned, so that an upgrade of the cluster never changes
what is admitted; it is the release that the sandbox runs, so what the tests see admitted is what this version admits.
An API server older than this judges by the newest profile it has."""

TIERS: Final[Mapping[str, str]] = {
    NAMESPACE_BUSINESS: "business",
    NAMESPACE_VECTOR: "vector",
    NAMESPACE_INFERENCE: "inference",
    NAMESPACE_BATCH: "batch",
    NAMESPACE_SYSTEM: "system",
}
DATA_NAMESPACES: Final = frozenset({NAMESPACE_BUSINESS, NAMESPACE_VECTOR})
"""Namespaces with volumes: deleting one deletes the data in it."""

ONLY_PRIORITY: Final[Mapping[str, str]] = {NAMESPACE_INFERENCE: PRIORITY_ONLINE, NAMESPACE_BATCH: PRIORITY_BATCH}
"""Namespaces whose pods have cards, and the one class they may have: a batch pod that gave itself another class could
take cards from a model, and a model's pod in a lower one would lose its own."""


@dataclass(frozen=True)
class Priority:
    """A PriorityClass. `preempts` is whether its pods may push out pods of a lower class."""

    value: int
    preempts: bool
    description: str


PRIORITIES: Final[Mapping[str, Priority]] = {
    PRIORITY_ONLINE: Priority(
        100_000, preempts=True, description="Models that users wait for; they take shared cards."
    ),
    PRIORITY_STANDARD: Priority(50_000, preempts=True, description="Business tier and vector store."),
    PRIORITY_BATCH: Priority(
        1_000, preempts=False, description="Work without a waiting user; it waits for free cards."
    ),
}
"""Gaps leave room for classes in between; the value of a class cannot be changed. Pods of other owners have 0."""


@dataclass(frozen=True)
class BaselineArgs:
    """`gpu_quotas` are cards by namespace, one entry each; `protect_data` keeps those with volumes from deletion;
    `identities` are the groups of people who get rights, nobody when left out."""

    gpu_quotas: Mapping[str, int]
    protect_data: bool
    identities: Identities = field(default_factory=Identities)

    def __post_init__(self) -> None:
        if missing := sorted(set(NAMESPACES) - set(self.gpu_quotas)):
            raise ValueError(f"gpu_quotas: no number of cards for {', '.join(missing)}; give 0 where none are needed")
        if unknown := sorted(set(self.gpu_quotas) - set(NAMESPACES)):
            raise ValueError(f"gpu_quotas: {', '.join(unknown)} is no namespace of the platform")


@dataclass(frozen=True)
class NamespaceBundle:
    """What one namespace consists of."""

    namespace: k8s.core.v1.Namespace
    default_account: k8s.core.v1.ServiceAccountPatch
    network: tuple[k8s.networking.v1.NetworkPolicy, ...]
    quotas: tuple[k8s.core.v1.ResourceQuota, ...]
    access: tuple[k8s.rbac.v1.RoleBinding, ...]


class Baseline(Component):
    """Namespaces under Pod Security `restricted`, closed networks, GPU quotas and the three PriorityClasses.

    The account `default` of each namespace mounts no token: every workload of the platform has an account of its own.
    """

    TOKEN: ClassVar[str] = "lantau:cluster:Baseline"

    namespaces: Mapping[str, NamespaceBundle]
    """By name."""
    priorities: Mapping[str, k8s.scheduling.v1.PriorityClass]
    """By name."""

    def __init__(self, name: str, args: BaselineArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.priorities = {each: self._priority(name, each, PRIORITIES[each]) for each in PRIORITIES}
        self.namespaces = {each: self._namespace(name, each, args) for each in NAMESPACES}
        self.finish({"namespaces": list(NAMESPACES), "gpu_quotas": dict(sorted(args.gpu_quotas.items()))})

    def _priority(self, name: str, class_name: str, priority: Priority) -> k8s.scheduling.v1.PriorityClass:
        return k8s.scheduling.v1.PriorityClass(
            f"{name}-{class_name}",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=class_name, labels=standard_labels(class_name, instance=class_name, tier="cluster")
            ),
            value=priority.value,
            preemption_policy="PreemptLowerPriority" if priority.preempts else "Never",
            global_default=False,
            description=priority.description,
            opts=self.child(),
        )

    def _namespace(self, name: str, namespace: str, args: BaselineArgs) -> NamespaceBundle:
        modes = ("enforce", "audit", "warn")
        made = k8s.core.v1.Namespace(
            f"{name}-{namespace}",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=namespace,
                labels=standard_labels(namespace, instance=namespace, tier=TIERS[namespace])
                | {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in modes}
                | {f"pod-security.kubernetes.io/{mode}-version": POD_SECURITY_VERSION for mode in modes},
            ),
            opts=self.child(protect=args.protect_data and namespace in DATA_NAMESPACES),
        )
        inside = self.child(depends_on=[made])
        quotas = [self._quota(name, namespace, "gpu", {f"requests.{GPU_RESOURCE}": args.gpu_quotas[namespace]}, inside)]
        if namespace in ONLY_PRIORITY:
            # Pods of any class but this one, or of none: there may be 0 of them.
            others = k8s.core.v1.ScopeSelectorArgs(
                match_expressions=[
                    k8s.core.v1.ScopedResourceSelectorRequirementArgs(
                        scope_name="PriorityClass", operator="NotIn", values=[ONLY_PRIORITY[namespace]]
                    )
                ]
            )
            quotas.append(self._quota(name, namespace, "other-priorities", {"pods": 0}, inside, others))
        network = (deny_all(namespace, inside), allow_dns(namespace, inside))
        people = tuple(access(name, args.identities, namespace, inside))
        return NamespaceBundle(made, self._default_account(name, namespace, inside), network, tuple(quotas), people)

    def _default_account(
        self, name: str, namespace: str, opts: pulumi.ResourceOptions
    ) -> k8s.core.v1.ServiceAccountPatch:
        """Take the token from pods that name no account: Kubernetes makes the account, so it is not ours to declare."""
        return k8s.core.v1.ServiceAccountPatch(
            f"{name}-{namespace}-default-account",
            metadata=k8s.meta.v1.ObjectMetaPatchArgs(name="default", namespace=namespace),
            automount_service_account_token=False,
            opts=opts,
        )

    def _quota(
        self,
        name: str,
        namespace: str,
        quota: str,
        hard: Mapping[str, int],
        opts: pulumi.ResourceOptions,
        scope: k8s.core.v1.ScopeSelectorArgs | None = None,
    ) -> k8s.core.v1.ResourceQuota:
        return k8s.core.v1.ResourceQuota(
            f"{name}-{namespace}-{quota}",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=quota,
                namespace=namespace,
                labels=standard_labels(quota, instance=quota, tier=TIERS[namespace]),
            ),
            spec=k8s.core.v1.ResourceQuotaSpecArgs(
                hard={resource: str(amount) for resource, amount in hard.items()}, scope_selector=scope
            ),
            opts=opts,
        )

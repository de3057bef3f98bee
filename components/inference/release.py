"""One release of a model, running."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.inference.engine import PORT_NAME, engine_pod
from components.inference.routes import SERVICE_PORT, workload_name
from lantau.catalog import cards
from lantau.labels import MODEL_LABEL, NAMESPACE_INFERENCE, RELEASE_LABEL, standard_labels
from lantau.release import Release
from lantau.release.engine_args import Launch, launch, release_files, rollout_timeout_seconds
from lantau.stack import Pool

meta = k8s.meta.v1

OLD_REPLICA_SETS = 2
"""A release never changes, so there is nothing to roll a Deployment back to; these help to see what an upgrade did."""


@dataclass(frozen=True)
class ModelReleaseArgs:
    """A release, its number of pods and where they fit. Its role (stable, canary, previous) is left out on purpose."""

    model: str
    """Name of the model as callers know it."""
    name: str
    """Name of the release."""
    release: Release
    replicas: int
    pools: Mapping[str, Pool]
    """Where its pods may run; the first is preferred."""
    surge: bool
    """Whether a pod more than `replicas` finds cards, so that a roll-out can start the new one first."""

    @property
    def launch(self) -> Launch:
        """How the engine is started on the cards of the pools."""
        known = cards()
        on = [known[pool.hardware.card] for pool in self.pools.values() if pool.hardware.card]
        return launch(self.release, served_name=self.model, cards=on)

    @property
    def workload(self) -> str:
        """Kubernetes name of Deployment, Service, account and disruption budget."""
        return workload_name(self.model, self.name)


@dataclass(frozen=True)
class ModelReleaseResources:
    """What a release consists of in the cluster."""

    account: k8s.core.v1.ServiceAccount
    config: k8s.core.v1.ConfigMap
    deployment: k8s.apps.v1.Deployment
    service: k8s.core.v1.Service
    disruption: k8s.policy.v1.PodDisruptionBudget | None
    """None for a single pod: a budget would hold every drain of its node for ever."""


class ModelRelease(Component):
    """Immutable configuration, pods, Service and disruption budget of one release of a model.

    All of it follows from the release's content and its number of pods. Promotion and rollback move the route; what
    runs stays as it is.
    """

    TOKEN: ClassVar[str] = "lantau:inference:ModelRelease"

    resources: ModelReleaseResources

    def __init__(self, name: str, args: ModelReleaseArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        started = args.launch
        self._labels = standard_labels(
            args.model, instance=args.workload, tier="inference", version=args.release.engine.version
        ) | {MODEL_LABEL: args.model, RELEASE_LABEL: args.name}
        self._selector = {MODEL_LABEL: args.model, RELEASE_LABEL: args.name}
        account = k8s.core.v1.ServiceAccount(
            f"{name}-account",
            metadata=self._metadata(args.workload),
            automount_service_account_token=False,
            opts=self.child(),
        )
        files = release_files(args.release, started)
        config_name = f"{args.workload}-{_digest(files)}"
        config = k8s.core.v1.ConfigMap(
            f"{name}-config",
            metadata=self._metadata(config_name),
            immutable=True,
            data=files,
            opts=self.child(),
        )
        self.resources = ModelReleaseResources(
            account=account,
            config=config,
            deployment=self._deployment(name, args, started, config_name, [account, config]),
            service=self._service(name, args),
            disruption=self._disruption(name, args) if args.replicas > 1 else None,
        )
        self.finish({"config": config_name, "digest": args.release.digest, "workload": args.workload})

    def _metadata(self, name: str, annotations: Mapping[str, str] | None = None) -> k8s.meta.v1.ObjectMetaArgs:
        return meta.ObjectMetaArgs(
            name=name, namespace=NAMESPACE_INFERENCE, labels=self._labels, annotations=annotations
        )

    def _deployment(
        self,
        name: str,
        args: ModelReleaseArgs,
        started: Launch,
        config_name: str,
        depends_on: list[pulumi.Resource],
    ) -> k8s.apps.v1.Deployment:
        return k8s.apps.v1.Deployment(
            f"{name}-deployment",
            metadata=self._metadata(args.workload),
            spec=k8s.apps.v1.DeploymentSpecArgs(
                replicas=args.replicas,
                selector=meta.LabelSelectorArgs(match_labels=self._selector),
                revision_history_limit=OLD_REPLICA_SETS,
                progress_deadline_seconds=started.progress_seconds,
                strategy=k8s.apps.v1.DeploymentStrategyArgs(
                    type="RollingUpdate",
                    # Kubernetes' own 25 % means "one more first", which never ends on a pool whose cards are all taken.
                    rolling_update=k8s.apps.v1.RollingUpdateDeploymentArgs(
                        max_surge=1 if args.surge else 0, max_unavailable=0 if args.surge else 1
                    ),
                ),
                template=k8s.core.v1.PodTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels=self._labels),
                    spec=engine_pod(
                        args.release,
                        started,
                        pools=args.pools,
                        config_map=config_name,
                        service_account=args.workload,
                        selector=self._selector,
                    ),
                ),
            ),
            opts=self.child(
                depends_on=depends_on,
                timeout=f"{rollout_timeout_seconds(args.release, started, args.replicas)}s",
            ),
        )

    def _service(self, name: str, args: ModelReleaseArgs) -> k8s.core.v1.Service:
        return k8s.core.v1.Service(
            f"{name}-service",
            # The Deployment is what is waited for; the provider would give a Service ten minutes to have endpoints.
            metadata=self._metadata(args.workload, {"pulumi.com/skipAwait": "true"}),
            spec=k8s.core.v1.ServiceSpecArgs(
                type="ClusterIP",
                selector=self._selector,
                ports=[
                    k8s.core.v1.ServicePortArgs(
                        name=PORT_NAME, port=SERVICE_PORT, target_port=PORT_NAME, protocol="TCP"
                    )
                ],
            ),
            opts=self.child(),
        )

    def _disruption(self, name: str, args: ModelReleaseArgs) -> k8s.policy.v1.PodDisruptionBudget:
        return k8s.policy.v1.PodDisruptionBudget(
            f"{name}-disruption",
            metadata=self._metadata(args.workload),
            spec=k8s.policy.v1.PodDisruptionBudgetSpecArgs(
                max_unavailable=1,
                selector=meta.LabelSelectorArgs(match_labels=self._selector),
                # A pod that never became ready must not keep a node from being drained.
                unhealthy_pod_eviction_policy="AlwaysAllow",
            ),
            opts=self.child(),
        )


def _digest(files: Mapping[str, str]) -> str:
    """Eight hexadecimal digits of SHA-256 over what the pods read: other files, another name, new pods."""
    return hashlib.sha256(json.dumps(dict(files), sort_keys=True).encode()).hexdigest()[:8]

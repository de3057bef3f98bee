"""A model as its callers know it: one address, its releases behind it, and who gets which share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.custom import custom_resource
from components.inference.gateway import PROXIES, base_url
from components.inference.release import ModelRelease, ModelReleaseArgs
from components.inference.routes import route, traffic_policy
from components.network import allow_ingress
from lantau import stack
from lantau.labels import MODEL_LABEL, NAMESPACE_INFERENCE, standard_labels
from lantau.platform import Platform
from lantau.release import Release
from lantau.release.engine_args import request_timeout_seconds


@dataclass(frozen=True)
class ServedModelArgs:
    """A model of a checked platform."""

    platform: Platform
    name: str
    """Name of the model in the stack."""

    @property
    def model(self) -> stack.ServedModel:
        """The model's pointers: stable, canary, previous."""
        return self.platform.stack.models[self.name]

    @property
    def pools(self) -> dict[str, stack.Pool]:
        """Pools of the model by name, the preferred one first."""
        names = filter(None, (self.model.pool, self.model.overflow))
        return {name: self.platform.stack.pools[name] for name in names}

    @property
    def releases(self) -> dict[str, Release]:
        """Running releases by name: stable, canary, previous."""
        return {name: self.platform.release(self.name, name) for name, _ in self.model.replicas_by_release()}

    def surge(self, release: Release) -> bool:
        """Whether the model's own pool has cards for one pod more than the stack asks for."""
        return self.platform.cards_free(self.model.pool) >= release.gpus

    def release_args(self) -> dict[str, ModelReleaseArgs]:
        """What each running release is made from, by name."""
        releases, pools = self.releases, self.pools
        return {
            name: ModelReleaseArgs(
                model=self.name,
                name=name,
                release=releases[name],
                replicas=replicas,
                pools=pools,
                surge=self.surge(releases[name]),
            )
            for name, replicas in self.model.replicas_by_release()
        }


@dataclass(frozen=True)
class ServedModelResources:
    """What a served model consists of besides its releases."""

    route: k8s.apiextensions.CustomResource
    traffic: k8s.apiextensions.CustomResource
    from_gateway: k8s.networking.v1.NetworkPolicy


class ServedModel(Component):
    """Route, traffic policy and running releases of one model.

    The route waits until every release is Ready, so that no release gets a share before it can answer, and nothing is
    taken away before the route has moved.
    """

    TOKEN: ClassVar[str] = "lantau:inference:ServedModel"

    resources: ServedModelResources
    releases: Mapping[str, ModelRelease]
    """By name of the release."""
    base_url: str
    """What callers in the cluster put before `/chat/completions`."""

    def __init__(self, name: str, args: ServedModelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        releases = args.release_args()
        self.base_url = base_url(args.name)
        self._labels = standard_labels(args.name, instance=args.name, tier="inference")
        from_gateway = allow_ingress(
            f"{args.name}-from-gateway",
            NAMESPACE_INFERENCE,
            {MODEL_LABEL: args.name},
            [PROXIES],
            sorted({each.launch.port for each in releases.values()}),
            self.child(),
        )
        self.releases = {release: ModelRelease(each.workload, each, self.child()) for release, each in releases.items()}
        traffic = custom_resource(
            f"{name}-traffic",
            traffic_policy(args.name, args.releases[args.model.stable], replicas=args.model.replicas),
            name=args.name,
            namespace=NAMESPACE_INFERENCE,
            labels=self._labels,
            opts=self.child(),
        )
        self.resources = ServedModelResources(
            route=self._route(name, args, [from_gateway, traffic, *self.releases.values()]),
            traffic=traffic,
            from_gateway=from_gateway,
        )
        self._say_how_pods_are_replaced(args, releases)
        self.finish({"base_url": self.base_url, "stable": args.model.stable, "weights": args.model.weights()})

    def _route(
        self, name: str, args: ServedModelArgs, depends_on: list[pulumi.Resource]
    ) -> k8s.apiextensions.CustomResource:
        stable = args.release_args()[args.model.stable]
        return custom_resource(
            f"{name}-route",
            route(
                args.name,
                stable.launch.routes,
                weights=args.model.weights(),
                # Of all releases, not of stable alone: a stream that began before a promotion ends after it.
                timeout_seconds=request_timeout_seconds(args.releases.values()),
            ),
            name=args.name,
            namespace=NAMESPACE_INFERENCE,
            labels=self._labels,
            opts=self.child(depends_on=depends_on),
        )

    def _say_how_pods_are_replaced(self, args: ServedModelArgs, releases: Mapping[str, ModelReleaseArgs]) -> None:
        spare = max(args.platform.cards_free(args.model.pool), 0)
        first = [name for name, each in releases.items() if each.surge]
        after = [name for name, each in releases.items() if not each.surge]
        said = []
        if first:
            said.append(f"a roll-out of {', '.join(first)} starts each new pod before it ends an old one")
        if after:
            said.append(
                f"a roll-out of {', '.join(after)} ends each pod before it starts the new one, so one fewer answers"
            )
        pulumi.log.info(
            f"{args.name}: pool {args.model.pool} has {spare} cards to spare: {'; '.join(said)}", resource=self
        )

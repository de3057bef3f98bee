"""The business tier: users' way in, the team's backend and its queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pulumi

from components.base import Component
from components.business.backend import Backend, BackendArgs
from components.business.edge import EdgeGateway, EdgeGatewayArgs
from components.business.queue import TaskQueue, TaskQueueArgs
from components.secrets import NamespaceStore, NamespaceStoreArgs
from lantau.labels import NAMESPACE_BUSINESS
from lantau.platform import Platform


@dataclass(frozen=True)
class BusinessTierArgs:
    """A checked platform."""

    platform: Platform


class BusinessTier(Component):
    """Edge gateway, backend and queue on the business pool.

    The backend gets the vector store's key as well: let the tier depend on the VectorStore, which makes it.
    """

    TOKEN: ClassVar[str] = "lantau:business:BusinessTier"

    store: NamespaceStore
    queue: TaskQueue
    backend: Backend
    edge: EdgeGateway
    url: str
    """Address for callers outside the cluster."""

    def __init__(self, name: str, args: BusinessTierArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        platform = args.platform
        self.store = NamespaceStore(
            f"{name}-store",
            NamespaceStoreArgs(
                stack_name=platform.name,
                store=platform.stack.secrets,
                tier="business",
                namespace=NAMESPACE_BUSINESS,
            ),
            self.child(),
        )
        with_keys = self.child(depends_on=[self.store])
        self.queue = TaskQueue(f"{name}-queue", TaskQueueArgs(platform), with_keys)
        self.backend = Backend(
            f"{name}-backend",
            BackendArgs(platform, self.queue.password),
            self.child(depends_on=[self.store, self.queue]),
        )
        self.edge = EdgeGateway(f"{name}-edge", EdgeGatewayArgs(platform), with_keys)
        self.url = self.edge.url
        self.finish({"url": self.url})

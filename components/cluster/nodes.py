"""Node pools: labels and taints on machines that exist already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.provider_sdk import NodeTaint
from lantau.labels import POOL_LABEL, ROLE_LABEL, ROLE_TAINT
from lantau.stack import Pool

FIELD_MANAGER: Final = "lantau-node-pools"
"""Owner of the labels in server-side apply. A name of its own: the labels of others are never claimed, and a run that
was cut short finds its own labels again instead of a conflict."""


@dataclass(frozen=True)
class NodePoolsArgs:
    """Pools by name. A node is in one pool only (the stack's model sees to that)."""

    pools: Mapping[str, Pool]


@dataclass(frozen=True)
class NodeBundle:
    """What one node carries; business nodes have no taint."""

    labels: k8s.core.v1.NodePatch
    taint: NodeTaint | None


class NodePools(Component):
    """Labels every node with its pool and role, and closes nodes that do one kind of work only to all other pods.

    Both go when the pool or the stack goes (docs/decisions/0005-node-labels.md). A label that somebody else set to
    another value is a conflict that names its owner, never overwritten.
    """

    TOKEN: ClassVar[str] = "lantau:cluster:NodePools"

    nodes: Mapping[str, NodeBundle]
    """By Kubernetes name of the node."""

    def __init__(self, name: str, args: NodePoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.nodes = {
            node: self._node(name, node, pool_name, pool)
            for pool_name, pool in sorted(args.pools.items())
            for node in pool.nodes
        }
        self.finish({"nodes": {pool: list(args.pools[pool].nodes) for pool in sorted(args.pools)}})

    def _node(self, name: str, node: str, pool_name: str, pool: Pool) -> NodeBundle:
        taint = None
        if pool.role.tainted:
            taint = NodeTaint(
                f"{name}-{node}-taint",
                node=node,
                key=ROLE_TAINT,
                value=pool.role.value,
                effect="NoSchedule",
                opts=self.child(),
            )
        # A patch of a node that does not exist would make one up; the taint's own error comes first.
        labels = k8s.core.v1.NodePatch(
            f"{name}-{node}-labels",
            metadata=k8s.meta.v1.ObjectMetaPatchArgs(
                name=node,
                labels={POOL_LABEL: pool_name, ROLE_LABEL: pool.role.value},
                annotations={"pulumi.com/patchFieldManager": FIELD_MANAGER},
            ),
            opts=self.child(depends_on=[taint] if taint else None),
        )
        return NodeBundle(labels, taint)

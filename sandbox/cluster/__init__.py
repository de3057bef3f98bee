"""A Kubernetes control plane with fake GPU nodes and a stand-in for AWS, all on loopback ports of one machine."""

from sandbox.cluster.instance import FOREIGN_VARIABLES, Sandbox
from sandbox.cluster.nodes import A100, DEFAULT_NODES, RTX_4090, Card, NodeSpec
from sandbox.cluster.proxy import without_proxy
from sandbox.cluster.status import NodeStatus, ProcessStatus, Status

__all__ = [
    "A100",
    "DEFAULT_NODES",
    "FOREIGN_VARIABLES",
    "RTX_4090",
    "Card",
    "NodeSpec",
    "NodeStatus",
    "ProcessStatus",
    "Sandbox",
    "Status",
    "without_proxy",
]

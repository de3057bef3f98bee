"""The cluster below the tiers: namespaces, priorities, quotas, node pools."""

from components.cluster.addons import ADDON_KINDS
from components.cluster.baseline import Baseline, BaselineArgs, NamespaceBundle
from components.cluster.installation import Installation, InstallationArgs
from components.cluster.nodes import NodeBundle, NodePools, NodePoolsArgs
from components.cluster.quota import gpu_quotas

__all__ = [
    "ADDON_KINDS",
    "Baseline",
    "BaselineArgs",
    "Installation",
    "InstallationArgs",
    "NamespaceBundle",
    "NodeBundle",
    "NodePools",
    "NodePoolsArgs",
    "gpu_quotas",
]

"""The business tier: edge gateway, backend and task queue."""

from components.business.backend import Backend, BackendArgs
from components.business.edge import EdgeGateway, EdgeGatewayArgs
from components.business.queue import TaskQueue, TaskQueueArgs
from components.business.tier import BusinessTier, BusinessTierArgs

__all__ = [
    "Backend",
    "BackendArgs",
    "BusinessTier",
    "BusinessTierArgs",
    "EdgeGateway",
    "EdgeGatewayArgs",
    "TaskQueue",
    "TaskQueueArgs",
]

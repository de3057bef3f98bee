"""How many cards each namespace may ask for."""

from __future__ import annotations

from lantau.labels import NAMESPACE_BATCH, NAMESPACE_INFERENCE, NAMESPACES
from lantau.stack import Role, Stack


def gpu_quotas(stack: Stack) -> dict[str, int]:
    """Cards by namespace, for `requests.nvidia.com/gpu`; 0 where no work may use a card.

    A namespace gets the cards of the pools that its work may run on: models those of the online pools and of the pools
    shared with them, jobs those of the offline pools. So the quota changes with the machines, never with a release.
    """
    models = sum(pool.cards for pool in stack.pools.values() if pool.role is Role.ONLINE or pool.shared_with_online)
    jobs = sum(pool.cards for pool in stack.pools_of(Role.OFFLINE).values())
    return dict.fromkeys(NAMESPACES, 0) | {NAMESPACE_INFERENCE: models, NAMESPACE_BATCH: jobs}

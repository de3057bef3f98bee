"""How many cards each namespace may ask for."""

from __future__ import annotations

from lantau.labels import NAMESPACE_BATCH, NAMESPACE_INFERENCE, NAMESPACES
from lantau.platform import Platform
from lantau.stack import Role


def gpu_quotas(platform: Platform) -> dict[str, int]:
    """Cards by namespace, for `requests.nvidia.com/gpu`; 0 where no work needs a card.

    Models get what all their releases need, and once more the largest release of each model: that is the room for its
    surge, or for a release that starts before the one it replaces is gone. Jobs get what all need, and once more the
    largest, because a changed job starts before the old one is deleted. Neither gets more than the cards it may run on,
    unless the stack already asks for more.
    """
    return dict.fromkeys(NAMESPACES, 0) | {
        NAMESPACE_INFERENCE: _models(platform),
        NAMESPACE_BATCH: _jobs(platform),
    }


def _models(platform: Platform) -> int:
    stack = platform.stack
    asked = [
        [replicas * platform.release(name, release).gpus for release, replicas in model.replicas_by_release()]
        for name, model in stack.models.items()
    ]
    needed = sum(sum(releases) for releases in asked)
    room = sum(max(releases) for releases in asked)
    usable = sum(pool.cards for pool in stack.pools.values() if pool.role is Role.ONLINE or pool.shared_with_online)
    return max(needed, min(needed + room, usable))


def _jobs(platform: Platform) -> int:
    asked = [job.gpus * job.parallelism for job in platform.stack.batch.values()]
    needed = sum(asked)
    usable = sum(pool.cards for pool in platform.stack.pools_of(Role.OFFLINE).values())
    return max(needed, min(needed + max(asked, default=0), usable))

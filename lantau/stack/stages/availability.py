"""E4: nothing of a live stage stands on one leg."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lantau.modelling import RuleViolation
from lantau.stack.stages.rule import LIVE, ReleaseRule, Releases, Rule

if TYPE_CHECKING:
    from lantau.stack.model import Stack


def _two_nodes(stack: Stack) -> Iterator[RuleViolation]:
    for path, pool in (
        (("business", "pool"), stack.business.pool),
        *((("models", name, "pool"), model.pool) for name, model in stack.models.items()),
    ):
        nodes = len(stack.pools[pool].nodes)
        if nodes < 2:
            yield RuleViolation(
                path,
                f"{stack.stage} has no single point of failure (E4), and pool {pool} has {nodes} node",
                fix=f"pools: {{{pool}: {{nodes: [<first>, <second>]}}}}",
            )


def _replicas(stack: Stack) -> Iterator[RuleViolation]:
    counts = [
        (("business", "backend", "replicas"), stack.business.backend.replicas),
        *((("models", name, "replicas"), model.replicas) for name, model in stack.models.items()),
    ]
    for path, replicas in counts:
        if replicas < 2:
            yield RuleViolation(path, f"{stack.stage} needs at least 2 (E4), and this is {replicas}", fix="replicas: 2")


def _rollback_warm(stack: Stack) -> Iterator[RuleViolation]:
    for name, model in stack.models.items():
        if model.previous is None and not model.first:
            yield RuleViolation(
                ("models", name),
                f"{stack.stage} keeps the release before {model.stable} warm, so that a rollback only moves weights "
                "(A6); previous is missing",
                fix="previous: <the release that ran before>   # or, when none ever ran here, first: true",
            )


def _spare_node(stack: Stack, releases: Releases) -> Iterator[RuleViolation]:
    for pool_name in sorted({model.pool for model in stack.models.values()}):
        pool = stack.pools[pool_name]
        served = [(name, model) for name, model in sorted(stack.models.items()) if model.pool == pool_name]
        free = [pool.hardware.cards] * (len(pool.nodes) - 1)
        others = {
            overflow: [stack.pools[overflow].hardware.cards] * len(stack.pools[overflow].nodes)
            for _, model in served
            if (overflow := model.overflow)
        }
        pods = [
            (releases[name, release].gpus, model.overflow)
            for name, model in served
            for release, replicas in model.replicas_by_release()
            for _ in range(replicas)
        ]
        # Large pods first, and of equal ones those that may run nowhere else.
        pods.sort(key=lambda pod: (-pod[0], pod[1] is not None))
        left = [
            gpus
            for gpus, overflow in pods
            if not _placed(free, gpus) and not (overflow and _placed(others[overflow], gpus))
        ]
        if left:
            yield RuleViolation(
                ("pools", pool_name, "nodes"),
                f"{stack.stage} goes on when a node fails (E4), and with {len(pool.nodes) - 1} of {len(pool.nodes)} "
                f"nodes {len(left)} of {len(pods)} pods find no cards ({sum(left)} cards short)",
                fix=f"pools: {{{pool_name}: {{nodes: [{', '.join(pool.nodes)}, <one more>]}}}}"
                "   # or lower replicas, or name an overflow pool",
            )


def _placed(nodes: list[int], gpus: int) -> bool:
    """Take the cards of a pod from the fullest node that has enough."""
    fitting = [place for place, cards in enumerate(nodes) if cards >= gpus]
    if not fitting:
        return False
    nodes[min(fitting, key=nodes.__getitem__)] -= gpus
    return True


RULES = (
    Rule(
        "E4-two-nodes",
        LIVE,
        "The pools of the business tier and of every model have two nodes or more.",
        "One machine that fails must not end the service.",
        _two_nodes,
    ),
    Rule(
        "E4-replicas",
        LIVE,
        "The backend and every model have two pods or more.",
        "A pod that restarts, or the node below it, must not end the service.",
        _replicas,
    ),
    Rule(
        "A6-rollback-warm",
        LIVE,
        "Every model names the release that ran before as previous, or says that it is the first.",
        "A rollback within minutes needs pods that run already: loading weights takes longer than users wait.",
        _rollback_warm,
    ),
)
RELEASE_RULES = (
    ReleaseRule(
        "E4-spare-node",
        LIVE,
        "All pods of the models find cards when one node of their pool has failed; the overflow pool counts.",
        "Capacity that is only there while every machine runs is missing when it is needed.",
        _spare_node,
    ),
)

"""E5: data on nodes of its own, protected, and back after a loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lantau.modelling import RuleViolation
from lantau.stack.stages.rule import FROM_GRAY, LIVE, Rule

if TYPE_CHECKING:
    from lantau.stack.model import Stack

QUORUM: Final = 3
"""Fewest Qdrant peers that go on with one lost: two of two agree on nothing once one is gone."""
LOG_REWRITE: Final = 2
"""Redis writes its append-only file anew beside the old one."""


def _protected(stack: Stack) -> Iterator[RuleViolation]:
    if not stack.protect_data:
        yield RuleViolation(("protect_data",), f"{stack.stage} keeps its data protected", fix="protect_data: true")


def _backup(stack: Stack) -> Iterator[RuleViolation]:
    if stack.vector.backup is None:
        yield RuleViolation(
            ("vector",),
            f"{stack.stage} backs the vector store up (E5), and backup is missing",
            fix="backup: {image: <image by digest>, bucket: <bucket>, addresses: [<block of the S3 endpoints>]}",
        )


def _replicas(stack: Stack) -> Iterator[RuleViolation]:
    vector = stack.vector
    if vector.replicas < QUORUM and vector.few_replicas_because is None:
        yield RuleViolation(
            ("vector", "replicas"),
            f"{stack.stage} loses no vectors with a node (E4), and that takes {QUORUM} peers; this is "
            f"{vector.replicas}",
            fix=f"replicas: {QUORUM}   # or few_replicas_because: <why searches may stop>",
        )
    nodes = len(stack.pools[vector.pool].nodes)
    if nodes < min(vector.replicas, QUORUM):
        yield RuleViolation(
            ("vector", "pool"),
            f"{vector.replicas} peers stand on {nodes} {'node' if nodes == 1 else 'nodes'} of pool {vector.pool}: "
            "more than one is lost with a node (E4)",
            fix=f"pools: {{{vector.pool}: {{nodes: [{', '.join(f'<node {n + 1}>' for n in range(QUORUM))}]}}}}",
        )


def _queue_volume(stack: Stack) -> Iterator[RuleViolation]:
    queue = stack.business.queue
    least = LOG_REWRITE * queue.memory_gib
    if queue.storage_gib < least:
        yield RuleViolation(
            ("business", "queue", "storage_gib"),
            f"the queue keeps tasks and results on disk (E3), and with {queue.memory_gib} GiB of memory its file takes "
            f"up to {least} GiB while it is rewritten; this is {queue.storage_gib}",
            fix=f"storage_gib: {least}",
        )


RULES = (
    Rule(
        "E5-protect-data",
        LIVE,
        "Resources that hold data refuse to be deleted.",
        "What users gave is not lost by a slip in a stack's file.",
        _protected,
    ),
    Rule(
        "E5-backup",
        LIVE,
        "The vector store is backed up.",
        "Vectors of a live service can not all be made again while users wait.",
        _backup,
    ),
    Rule(
        "E5-vector-replicas",
        LIVE,
        f"The vector store has {QUORUM} peers on nodes of their own, or the stack says why fewer do.",
        "Qdrant goes on while most of its peers live: one of three may go, one of two may not.",
        _replicas,
    ),
    Rule(
        "E3-queue-volume",
        FROM_GRAY,
        "The volume of the queue is twice its memory or more.",
        "Gray is where real queues are met: a full disk loses the tasks and results that wait in them.",
        _queue_volume,
    ),
)

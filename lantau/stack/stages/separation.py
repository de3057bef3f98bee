"""E4, E5: GPU servers do inference only, data has nodes of its own. Both hold in every stage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lantau.modelling import RuleViolation
from lantau.stack.pools import Role
from lantau.stack.stages.rule import EVERY, Rule

if TYPE_CHECKING:
    from lantau.stack.model import Stack


def _inference_only(stack: Stack) -> Iterator[RuleViolation]:
    for tier, pool, role in _tiers(stack):
        if stack.pools[pool].role.gpu:
            yield RuleViolation(
                (tier, "pool"),
                f"{pool} is a pool for {stack.pools[pool].role} work; this needs role {role}: GPU servers do inference "
                "only (E4)",
                fix=_fix(stack, role),
            )


def _own_nodes(stack: Stack) -> Iterator[RuleViolation]:
    for tier, pool, role in _tiers(stack):
        found = stack.pools[pool].role
        if not found.gpu and found is not role:
            yield RuleViolation(
                (tier, "pool"),
                f"{pool} is a pool for {found} work; this needs role {role}: data and business tier have nodes of "
                "their own (E5)",
                fix=_fix(stack, role),
            )


def _tiers(stack: Stack) -> tuple[tuple[str, str, Role], ...]:
    return ("business", stack.business.pool, Role.BUSINESS), ("vector", stack.vector.pool, Role.DATA)


def _fix(stack: Stack, role: Role) -> str:
    fitting = list(stack.pools_of(role))
    return f"pool: {fitting[0]}" if fitting else f"pools: {{<name>: {{role: {role}, machine: …, nodes: […]}}}}"


RULES = (
    Rule(
        "E4-inference-only",
        EVERY,
        "No business or data tier runs on a pool of GPU machines.",
        "Databases, uploads and dashboards take processor, disk and line from inference at the busiest hour.",
        _inference_only,
    ),
    Rule(
        "E5-data-nodes",
        EVERY,
        "The vector store and the business tier run on pools of their own role.",
        "Searches and users' requests peak together: on one machine each slows the other.",
        _own_nodes,
    ),
)

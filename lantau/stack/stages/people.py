"""C1, C2, E10: who may do what, what is recorded, and the line that users come by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lantau.modelling import RuleViolation
from lantau.stack.identities import ROLES
from lantau.stack.network import Audience
from lantau.stack.stages.rule import LIVE, Rule

if TYPE_CHECKING:
    from lantau.stack.model import Stack

ARCHIVE_DAYS: Final = 365


def _identities(stack: Stack) -> Iterator[RuleViolation]:
    bound = dict(stack.identities.bound())
    for role in ROLES:
        if role not in bound:
            yield RuleViolation(
                ("identities", role),
                f"{stack.stage} says who has each role (C2), and nobody is {role}",
                fix=f"identities: {{{role}: [oidc:<group>]}}",
            )


def _archive(stack: Stack) -> Iterator[RuleViolation]:
    days = stack.retention.archive_days
    if days is None or days < ARCHIVE_DAYS:
        now = "there is no archive" if days is None else f"this is {days}"
        yield RuleViolation(
            ("retention", "archive_days"),
            f"{stack.stage} archives audit events for {ARCHIVE_DAYS} days or more (C1), and {now}",
            fix=f"retention: {{archive_days: {ARCHIVE_DAYS}}}",
        )


def _line(stack: Stack) -> Iterator[RuleViolation]:
    network = stack.network
    if network is None:
        yield RuleViolation(
            ("network",),
            f"{stack.stage} says by which line its users come (E10)",
            fix="network: {route: cn2, bandwidth_mbps: 100, audience: mainland}",
        )
    elif network.audience is Audience.MAINLAND and not network.route.direct:
        yield RuleViolation(
            ("network", "route"),
            "users in the mainland need a direct route (E10), and bgp takes the crowded international one",
            fix='route: cn2   # or "9929", cmin2',
        )


RULES = (
    Rule(
        "C2-identities",
        LIVE,
        "Each of the five roles has a group of the identity provider.",
        "Where a role is nobody's, people share the account of somebody who may do everything.",
        _identities,
    ),
    Rule(
        "C1-audit-archive",
        LIVE,
        f"Audit events are archived for {ARCHIVE_DAYS} days or more, beyond the 90 at hand.",
        "What happened is often asked for after the log on the node was rotated away.",
        _archive,
    ),
    Rule(
        "E10-mainland-route",
        LIVE,
        "The stack says by which line users come; users in the mainland come by cn2, 9929 or cmin2.",
        "Plain international routes lose packets in the evening, and streamed answers stutter however fast the cards.",
        _line,
    ),
)

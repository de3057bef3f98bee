"""NET-05: no rule admits every namespace, by an empty selector or by a slipped dash."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.peers import PEERS
from policies.least_privilege.network.policies import DIRECTIONS, NetPolicy, is_empty, policies_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, items
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find empty namespace selectors and selectors that two list items make an OR."""
    del settings
    for policy in policies_of(resource):
        for direction in DIRECTIONS:
            for path, rule in policy.rules(direction):
                if isinstance(rule, dict):
                    field = PEERS[direction]
                    yield from _peers(policy, direction, list(items(rule.get(field), f"{path}.{field}")))


def _peers(policy: NetPolicy, direction: str, listed: list[tuple[str, Plain]]) -> Iterator[Verdict]:
    for path, peer in listed:
        selector = peer.get("namespaceSelector") if isinstance(peer, dict) else peer
        if selector is UNKNOWN:
            yield Unjudged(f"{policy.obj}: {path}")
        elif isinstance(selector, dict) and is_empty(selector) and not _named_service(peer, direction):
            yield Finding(f"{path}.namespaceSelector", "an empty selector admits every namespace", policy.obj)
    for (path, first), (_, second) in pairwise(listed):
        if _only(first, "namespaceSelector") and _only(second, "podSelector"):
            text = "two list items mean one or the other; both selectors belong into one item"
            yield Finding(path, text, policy.obj)


def _named_service(peer: dict[str, Plain], direction: str) -> bool:
    """Whether the peer is a labelled pod that clients go to, such as cluster DNS, wherever it runs."""
    pods = peer.get("podSelector")
    return direction == "Egress" and isinstance(pods, dict) and not is_empty(pods)


def _only(peer: Plain, key: str) -> bool:
    return isinstance(peer, dict) and set(peer) == {key} and isinstance(peer[key], dict) and not is_empty(peer[key])


RULE: Final = Rule(
    control="NET-05",
    name="network-no-every-namespace",
    title="No network rule admits every namespace",
    why="An empty namespaceSelector, or a dash too many, lets in pods that nobody thought of.",
    fix="Select namespaces by label, and put namespaceSelector and podSelector into the same list item.",
    severity=Severity.MEDIUM,
    nsa="Network separation and hardening (C-0054)",
    kinds=frozenset({"NetworkPolicy"}),
    check=check,
)

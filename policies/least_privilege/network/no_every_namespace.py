"""NET-05: no rule admits every namespace, by an empty selector or by a slipped dash."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.kubernetes import PEERS
from policies.least_privilege.network.policies import KINDS, policies_of
from policies.least_privilege.network.traffic import DIRECTIONS, Policy, Traffic
from policies.model.resource import Resource
from policies.model.selectors import is_empty
from policies.model.values import Plain, child, items
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find empty namespace selectors and selectors that two list items make an OR."""
    del settings
    for policy in policies_of(resource):
        for direction in DIRECTIONS:
            for traffic in policy.allows[direction]:
                for peer in traffic.peers:
                    if peer.every_namespace is None:
                        yield Unjudged(f"{policy.obj}: {peer.path}")
                    elif peer.every_namespace:
                        yield Finding(peer.path, "this selector admits every namespace", policy.obj)
                yield from _slips(policy, direction, traffic)


def _slips(policy: Policy, direction: str, traffic: Traffic) -> Iterator[Verdict]:
    listed = items(child(traffic.body, PEERS[direction]), f"{traffic.path}.{PEERS[direction]}")
    for (path, first), (_, second) in pairwise(listed):
        if _only(first, "namespaceSelector") and _only(second, "podSelector"):
            text = "two list items mean one or the other; both selectors belong into one item"
            yield Finding(path, text, policy.obj)


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
    kinds=KINDS,
    check=check,
)

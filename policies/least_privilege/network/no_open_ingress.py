"""NET-02: no ingress rule without peers."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.policies import is_open, policies_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find ingress rules that name no peer, with or without ports."""
    del settings
    for policy in policies_of(resource):
        for path, rule in policy.rules("Ingress"):
            if rule is UNKNOWN or (isinstance(rule, dict) and rule.get("from") is UNKNOWN):
                yield Unjudged(f"{policy.obj}: {path}")
            elif is_open(rule, "Ingress"):
                yield Finding(path, "a rule without `from` means everyone", policy.obj)


RULE: Final = Rule(
    control="NET-02",
    name="network-no-open-ingress",
    title="No ingress rule leaves out its peers",
    why="A missing `from` is no restriction at all, even beside ports.",
    fix="Name the peers in `from`: pods, namespaces or address blocks.",
    severity=Severity.HIGH,
    nsa="Network separation and hardening (C-0030)",
    kinds=frozenset({"NetworkPolicy"}),
    check=check,
)

"""NET-03: no egress rule without peers."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.network.policies import KINDS, policies_of
from policies.model.resource import Resource
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find egress rules that name no peer, with or without ports."""
    del settings
    for policy in policies_of(resource):
        for traffic in policy.allows["Egress"]:
            if traffic.open is None:
                yield Unjudged(f"{policy.obj}: {traffic.path}")
            elif traffic.open:
                yield Finding(traffic.path, "a rule that names no peer means anywhere", policy.obj)


RULE: Final = Rule(
    control="NET-03",
    name="network-no-open-egress",
    title="No egress rule leaves out its peers",
    why="A missing `to` is no restriction at all, even beside ports.",
    fix="Name the peers in `to`: pods, namespaces or address blocks.",
    severity=Severity.HIGH,
    nsa="Network separation and hardening (C-0030)",
    kinds=KINDS,
    check=check,
)

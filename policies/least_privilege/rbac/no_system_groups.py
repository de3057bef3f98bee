"""RBAC-15: no right for everybody, for the anonymous or for system:masters."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac.grants import bindings
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child
from policies.settings import Settings

_FORBIDDEN: Final = frozenset(
    {"system:masters", "system:authenticated", "system:unauthenticated", "system:anonymous", "system:serviceaccounts"}
)


def _broad(name: str) -> bool:
    return name in _FORBIDDEN or name.startswith("system:serviceaccounts:")


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find subjects that stand for everybody or for the superuser."""
    del settings
    for binding in bindings(resource):
        for path, subject in binding.subjects:
            name = child(subject, "name")
            if name is UNKNOWN:
                yield Unjudged(f"{binding.obj}: {path}")
            elif isinstance(name, str) and _broad(name) and child(subject, "kind") != "ServiceAccount":
                yield Finding(path, f"{name} stands for far more than one user", binding.obj)


RULE: Final = Rule(
    control="RBAC-15",
    name="rbac-no-system-groups",
    title="No right for everybody, for the anonymous or for system:masters",
    why="These subjects hold every account of the cluster or of a namespace, the anonymous, or the superuser.",
    fix="Name the user, group or service account that needs the right.",
    severity=Severity.CRITICAL,
    cis="5.1.7",
    check=check,
)

"""RBAC-16: the default service account holds no right."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.rbac.grants import bindings
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child
from policies.settings import Settings


def _is_default_account(subject: Plain) -> bool:
    name = child(subject, "name")
    if not isinstance(name, str):
        return False
    if child(subject, "kind") == "ServiceAccount":
        return name == "default"
    # The same account under the user name the API server knows it by.
    parts = name.split(":")
    return parts[:2] == ["system", "serviceaccount"] and len(parts) == 4 and parts[3] == "default"


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find subjects that are the default account of a namespace."""
    del settings
    for binding in bindings(resource):
        for path, subject in binding.subjects:
            if subject is UNKNOWN or child(subject, "name") is UNKNOWN:
                yield Unjudged(f"{binding.obj}: {path}")
            elif _is_default_account(subject):
                yield Finding(path, "the default account is used by every pod that names none", binding.obj)


RULE: Final = Rule(
    control="RBAC-16",
    name="rbac-no-default-account",
    title="The default service account holds no right",
    why="Every pod that names no account runs as default, so its rights are everybody's.",
    fix="Make a service account for the workload and bind that.",
    severity=Severity.MEDIUM,
    cis="5.1.5",
    check=check,
)

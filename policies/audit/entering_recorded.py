"""AUD-05: entering pods and changing rights is recorded."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.trail import READ, WRITE, Request, audit_policies, unrecorded
from policies.engine.rule import Rule, Verdict
from policies.model.resource import Resource
from policies.settings import Settings

_ENTER: Final = frozenset({"get", "create"})
_RBAC: Final = "rbac.authorization.k8s.io"
_REQUESTS: Final = (
    *(Request("", f"pods/{sub}", _ENTER) for sub in ("exec", "attach", "portforward")),
    Request("", "pods/proxy", READ | WRITE),
    Request("", "pods/ephemeralcontainers", frozenset({"update", "patch"})),
    Request("", "services/proxy", READ | WRITE),
    Request("", "nodes/proxy", READ | WRITE, cluster_scoped=True),
    *(Request(_RBAC, name, WRITE) for name in ("roles", "rolebindings")),
    *(Request(_RBAC, name, WRITE, cluster_scoped=True) for name in ("clusterroles", "clusterrolebindings")),
)


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find requests that enter pods or change rights and are not recorded."""
    del settings
    for policy in audit_policies(resource):
        yield from policy.unknown()
        for request in _REQUESTS:
            yield from unrecorded(policy, request)


RULE: Final = Rule(
    control="AUD-05",
    name="audit-entering-recorded",
    title="Entering pods and changing rights is recorded",
    why="These requests are what an intruder needs; a rule for pods does not cover pods/exec.",
    fix="Record the subresources by name, or let the last rule record everything.",
    severity=Severity.HIGH,
    cis="3.2.2",
    check=check,
)

"""AUD-07: no principal and no namespace is left out of the trail."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.audit.trail import READ, AuditPolicy, AuditRule, audit_policies
from policies.engine.rule import Finding, Rule, Unjudged, Verdict, by_kind
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, items, join
from policies.settings import Settings

_USERS: Final = frozenset(
    {
        "system:kube-proxy",
        "system:kube-scheduler",
        "system:kube-controller-manager",
        "system:cloud-controller-manager",
        "system:apiserver",
        "system:unsecured",
        "system:node-problem-detector",
        "kubelet",
        "cluster-autoscaler",
    }
)
_SYSTEM_ACCOUNTS: Final = "system:serviceaccount:kube-system:"
_GROUPS: Final = frozenset({"system:nodes", "system:serviceaccounts:kube-system"})
# Objects that system components write all day and that hold nothing.
_NOISE: Final = frozenset({"endpoints", "endpointslices", "leases", "events", "nodes/status", "pods/status"})
_ELECTION: Final = _NOISE | {"configmaps"}
_SENSITIVE: Final = frozenset({"secrets", "tokenreviews", "serviceaccounts/token", "pods/exec", "pods/attach"})


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find None rules about principals or namespaces that are more than known noise."""
    for obj in by_kind(resource, "APIServer", groups=("config.openshift.io",)):
        for path, rule in items(
            child(obj.body, "spec", "audit", "customRules"), join(obj.path, "spec.audit.customRules")
        ):
            profile = child(rule, "profile")
            if profile is UNKNOWN:
                yield Unjudged(f"{obj}: {path}")
            elif profile == "None":
                yield Finding(path, "nothing that this group does is recorded", obj)
    for policy in audit_policies(resource):
        yield from policy.unknown()
        for rule in policy.rules:
            if rule.level is UNKNOWN:
                yield Unjudged(f"{policy.obj}: {rule.path}.level")
            elif rule.level == "None":
                yield from _judge(policy, rule, settings)


def _judge(policy: AuditPolicy, rule: AuditRule, settings: Settings) -> Iterator[Verdict]:
    if rule.listed("nonResourceURLs") and not rule.listed("resources"):
        return
    principals = rule.listed("users") + rule.listed("userGroups")
    namespaces = rule.listed("namespaces")
    if not principals and not namespaces:
        return
    if any(value is UNKNOWN for value in [*principals, *namespaces, *rule.listed("verbs")]):
        yield Unjudged(f"{policy.obj}: {rule.path}")
        return
    foreign = [u for u in rule.listed("users") if u not in _USERS and not str(u).startswith(_SYSTEM_ACCOUNTS)]
    foreign += [group for group in rule.listed("userGroups") if group not in _GROUPS]
    tenant = [n for n in namespaces if n not in settings.system_namespaces and n != ""]
    resources = _resources(rule)
    if foreign:
        yield policy.finding(rule.path, f"nothing that {', '.join(map(str, foreign))} does here is recorded")
    elif not principals and tenant:
        yield policy.finding(rule.path, f"nothing in namespace {', '.join(map(str, tenant))} is recorded here")
    elif _SENSITIVE & resources:
        yield policy.finding(rule.path, "even the system's own use of keys must be recorded")
    elif not _harmless(rule, resources, bool(principals)):
        yield policy.finding(rule.path, "changes are dropped here; only reads and known noise may be")


def _resources(rule: AuditRule) -> frozenset[str]:
    found: set[str] = set()
    for member in rule.listed("resources"):
        names = member.get("resources") if isinstance(member, dict) else None
        found.update(map(str, names) if isinstance(names, list) and names else ("*",))
    return frozenset(found)


def _harmless(rule: AuditRule, resources: frozenset[str], by_principal: bool) -> bool:
    verbs = {str(verb) for verb in rule.listed("verbs")}
    if verbs and verbs <= READ:
        return True
    # Leader election writes these; nothing else needs to be dropped for writes.
    noise = _ELECTION if by_principal and rule.listed("namespaces") else _NOISE
    return bool(resources) and resources <= noise


RULE: Final = Rule(
    control="AUD-07",
    name="audit-no-carve-out",
    title="No user, group or namespace is left out of the audit log",
    why="An intruder acts as the account, or in the namespace, that is not recorded.",
    fix="Restrict None rules to read verbs of the control plane's own components, or remove them.",
    severity=Severity.HIGH,
    nsa="Audit logging",
    uses=("system_namespaces",),
    check=check,
)

"""Audit switches of managed control planes, which have no flags to read."""

from collections.abc import Iterator
from typing import Final

from policies.engine.rule import Finding, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, join

_TEXT: Final = "the managed control plane delivers no audit log"
# Resource types of cloud providers: where the switch is, as a list of log types or as true.
_LISTS: Final = (("aws:eks/cluster:", "enabledClusterLogTypes"), ("eks:index:Cluster", "enabledClusterLogTypes"))
_SWITCHES: Final = (
    ("alicloud:cs/managedKubernetes:", ("auditLogConfig", "enabled")),
    ("tencentcloud:Kubernetes/cluster:", ("clusterAudit", "enabled")),
)


def managed(resource: Resource) -> Iterator[Verdict]:
    """Find managed control planes whose audit log is not switched on."""
    for token, field in _LISTS:
        if resource.token.startswith(token):
            yield from _listed(None, field, child(resource.body, field))
    for token, keys in _SWITCHES:
        if resource.token.startswith(token):
            yield from _switched(None, ".".join(keys), child(resource.body, *keys))
    for obj in resource.objects:
        if not obj.patch:
            yield from _of_object(obj)


def _of_object(obj: Obj) -> Iterator[Verdict]:
    if obj.kind == "Cluster" and obj.group.startswith("eks.aws"):
        where = join(obj.path, "spec.forProvider.enabledClusterLogTypes")
        yield from _listed(obj, where, child(obj.body, "spec", "forProvider", "enabledClusterLogTypes"))
    elif obj.is_a("Cluster", "eks.services.k8s.aws"):
        where = join(obj.path, "spec.logging.clusterLogging")
        yield from _listed(obj, where, _enabled(child(obj.body, "spec", "logging", "clusterLogging")))
    elif obj.is_a("ClusterConfig", "eksctl.io"):
        where = join(obj.path, "cloudWatch.clusterLogging.enableTypes")
        yield from _listed(obj, where, child(obj.body, "cloudWatch", "clusterLogging", "enableTypes"))
    elif obj.is_a("AWSManagedControlPlane", "controlplane.cluster.x-k8s.io"):
        where = join(obj.path, "spec.logging.audit")
        yield from _switched(obj, where, child(obj.body, "spec", "logging", "audit"))
    elif obj.is_a("APIServer", "config.openshift.io"):
        profile = child(obj.body, "spec", "audit", "profile")
        where = join(obj.path, "spec.audit.profile")
        yield from _switched(obj, where, profile if profile is UNKNOWN else profile != "None")


def _enabled(groups: Plain) -> Plain:
    """Log types of the groups that are switched on."""
    if not isinstance(groups, list):
        return groups
    found: list[Plain] = []
    for group in groups:
        enabled, types = child(group, "enabled"), child(group, "types")
        if enabled is UNKNOWN or types is UNKNOWN:
            found.append(UNKNOWN)
        elif enabled is True and isinstance(types, list):
            found.extend(types)
    return found


def _listed(obj: Obj | None, where: str, types: Plain) -> Iterator[Verdict]:
    listed = types if isinstance(types, list) else [types]
    known = {kind for kind in listed if isinstance(kind, str)}
    # eksctl takes "*" and "all" for every type.
    if known & {"audit", "*", "all"}:
        return
    if any(kind is UNKNOWN for kind in listed):
        yield Unjudged(where)
    else:
        yield Finding(where, _TEXT, obj)


def _switched(obj: Obj | None, where: str, value: Plain) -> Iterator[Verdict]:
    if value is UNKNOWN:
        yield Unjudged(where)
    elif value is not True:
        yield Finding(where, _TEXT, obj)

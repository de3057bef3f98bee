"""Rights of people: one Role for each role of the stack's identities in each namespace where it works."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_kubernetes as k8s

from lantau.labels import NAMESPACE_BATCH, NAMESPACE_INFERENCE, NAMESPACE_SYSTEM, NAMESPACES, standard_labels
from lantau.stack import Identities

READ: Final = ("get", "list", "watch")


@dataclass(frozen=True)
class Grant:
    """Verbs on resources of one API group."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...] = READ


SEE: Final = (
    Grant("", ("pods", "pods/log", "events", "services", "persistentvolumeclaims", "resourcequotas")),
    Grant("apps", ("deployments", "statefulsets", "replicasets")),
    Grant("batch", ("jobs", "cronjobs")),
)
RECORDS: Final = Grant("", ("configmaps",))
"""Releases, the installation and the audit policy are ConfigMaps; keys never are."""
RESTART: Final = Grant("", ("pods",), ("delete",))
EVICT: Final = Grant("", ("pods/eviction",), ("create",))
SCALE: Final = Grant("apps", ("deployments/scale",), ("get", "patch"))
ROUTES: Final = Grant("gateway.networking.k8s.io", ("httproutes",), (*READ, "patch"))
RIGHTS: Final = Grant("rbac.authorization.k8s.io", ("roles", "rolebindings"))

GRANTS: Final[Mapping[str, Mapping[str, tuple[Grant, ...]]]] = {
    "platform_admin": dict.fromkeys(NAMESPACES, (*SEE, RECORDS, RIGHTS, RESTART, EVICT)),
    "model_engineer": dict.fromkeys((NAMESPACE_INFERENCE, NAMESPACE_BATCH), (*SEE, RECORDS)),
    "release_manager": {NAMESPACE_INFERENCE: (*SEE, RECORDS, SCALE, ROUTES)},
    "auditor": {
        NAMESPACE_SYSTEM: (RECORDS, RIGHTS),
        NAMESPACE_INFERENCE: (RECORDS, RIGHTS),
    },
    "on_call": dict.fromkeys(NAMESPACES, (*SEE, RESTART)),
}
"""By role and namespace. Nobody reads Secrets, opens a shell in a pod, changes rights or has a right cluster-wide:
changes come by `pulumi up`, and these rights are for looking, restarting and shifting traffic in a hurry."""


def access(
    name: str, identities: Identities, namespace: str, opts: pulumi.ResourceOptions
) -> Iterator[k8s.rbac.v1.RoleBinding]:
    """Declare Roles and bindings of one namespace for the roles that somebody has."""
    for role, groups in identities.bound():
        grants = GRANTS[role].get(namespace)
        if grants is None:
            continue
        title = f"lantau-{role.replace('_', '-')}"
        metadata = k8s.meta.v1.ObjectMetaArgs(
            name=title, namespace=namespace, labels=standard_labels(title, instance=title, tier="access")
        )
        made = k8s.rbac.v1.Role(
            f"{name}-{namespace}-{role}",
            metadata=metadata,
            rules=[
                k8s.rbac.v1.PolicyRuleArgs(
                    api_groups=[grant.group], resources=list(grant.resources), verbs=list(grant.verbs)
                )
                for grant in grants
            ],
            opts=opts,
        )
        yield k8s.rbac.v1.RoleBinding(
            f"{name}-{namespace}-{role}",
            metadata=metadata,
            role_ref=k8s.rbac.v1.RoleRefArgs(api_group="rbac.authorization.k8s.io", kind="Role", name=title),
            subjects=[
                k8s.rbac.v1.SubjectArgs(kind="Group", name=group, api_group="rbac.authorization.k8s.io")
                for group in groups
            ],
            opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[made])),
        )

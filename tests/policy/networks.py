"""Namespaces and network policies for the tests of the network rules."""

from typing import Any


def namespace(name: str = "team-a", **labels: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def net_policy(
    name: str = "default-deny", namespace: Any = "team-a", api: str = "networking.k8s.io/v1", **spec: Any
) -> dict[str, Any]:
    """A policy that selects all pods and denies both directions unless `spec` says otherwise."""
    return {
        "apiVersion": api,
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], **spec},
    }


def cilium(*, wide: bool = False, **spec: Any) -> dict[str, Any]:
    """A policy of Cilium for all pods of a namespace, or of the cluster."""
    return {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumClusterwideNetworkPolicy" if wide else "CiliumNetworkPolicy",
        "metadata": {"name": "p"} if wide else {"name": "p", "namespace": "team-a"},
        "spec": {"endpointSelector": {}, **spec},
    }


def calico(*, wide: bool = False, api: str = "projectcalico.org/v3", **spec: Any) -> dict[str, Any]:
    """A policy of Calico for all pods of a namespace, or of the cluster."""
    return {
        "apiVersion": api,
        "kind": "GlobalNetworkPolicy" if wide else "NetworkPolicy",
        "metadata": {"name": "p"} if wide else {"name": "p", "namespace": "team-a"},
        "spec": {"selector": "all()", **spec},
    }


def admin(kind: str = "AdminNetworkPolicy", **spec: Any) -> dict[str, Any]:
    """A policy of the cluster's administrators."""
    return {
        "apiVersion": "policy.networking.k8s.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "default"},
        "spec": {"subject": {"namespaces": {}}, **spec},
    }

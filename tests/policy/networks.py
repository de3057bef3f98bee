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

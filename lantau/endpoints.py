"""Where tiers find each other: names, ports and pod labels that two of them must agree on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lantau.labels import (
    NAMESPACE_BUSINESS,
    NAMESPACE_INFERENCE,
    NAMESPACE_VECTOR,
    TIER_LABEL,
)


@dataclass(frozen=True)
class Endpoint:
    """Pods that others call: where they run, what tells them apart, and the ports they listen on."""

    namespace: str
    service: str
    """Name of the Service."""
    pod_labels: Mapping[str, str]
    """Labels that these pods have and no others of the namespace."""
    ports: Mapping[str, int]
    """TCP ports by name, the same on the Service and in the pod."""

    @property
    def host(self) -> str:
        """DNS name for callers in the cluster, whatever the cluster's own domain is."""
        return f"{self.service}.{self.namespace}.svc"


GATEWAY_CLASS: Final = "envoy-gateway"
PROXY_NAMESPACE: Final = "envoy-gateway-system"
"""Where Envoy Gateway runs the proxies of every Gateway; it belongs to the add-on, not to this program."""


def proxy_labels(gateway: str, namespace: str) -> dict[str, str]:
    """Labels that Envoy Gateway puts on the proxies of one Gateway."""
    return {
        "gateway.envoyproxy.io/owning-gateway-name": gateway,
        "gateway.envoyproxy.io/owning-gateway-namespace": namespace,
    }


def _labels(name: str, tier: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name, TIER_LABEL: tier}


EDGE_GATEWAY: Final = "edge"
INFERENCE_GATEWAY: Final = "inference"
BACKEND: Final = "backend"

QUEUE: Final = Endpoint(NAMESPACE_BUSINESS, "queue", _labels("queue", "business"), {"redis": 6379})
VECTOR: Final = Endpoint(NAMESPACE_VECTOR, "qdrant", _labels("qdrant", "vector"), {"http": 6333, "grpc": 6334})
BACKEND_LABELS: Final = _labels(BACKEND, "business")
INFERENCE: Final = Endpoint(
    PROXY_NAMESPACE, "inference-gateway", proxy_labels(INFERENCE_GATEWAY, NAMESPACE_INFERENCE), {"http": 8080}
)
"""The inference gateway; a model's base URL is `http://<host>:8080/<model>/v1`."""

VECTOR_TIER: Final = "vector"
VECTOR_KEY: Final = "api-key"
VECTOR_KEY_FIELD: Final = "key"
"""Field of the managed key by which callers prove themselves to the vector store."""

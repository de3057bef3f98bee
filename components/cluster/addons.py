"""Controllers that must be in the cluster before a stack is deployed, and how they get there."""

from __future__ import annotations

from components.provider_sdk import RequiredKind

ENVOY_GATEWAY = "helm install eg oci://docker.io/envoyproxy/gateway-helm --version v1.9.1 -n envoy-gateway-system"
EXTERNAL_SECRETS = "helm install external-secrets external-secrets/external-secrets --version 1.3.2 -n external-secrets"
ADDON_KINDS = [
    *(
        RequiredKind("gateway.networking.k8s.io", kind, "v1", "Envoy Gateway", ENVOY_GATEWAY)
        for kind in ("Gateway", "HTTPRoute")
    ),
    *(
        RequiredKind("gateway.envoyproxy.io", kind, "v1alpha1", "Envoy Gateway", ENVOY_GATEWAY)
        for kind in ("EnvoyProxy", "SecurityPolicy", "BackendTrafficPolicy", "ClientTrafficPolicy")
    ),
    *(
        RequiredKind("external-secrets.io", kind, "v1", "External Secrets", EXTERNAL_SECRETS)
        for kind in ("SecretStore", "ExternalSecret")
    ),
]

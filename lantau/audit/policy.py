"""The audit policy of every Lantau cluster (CIS Kubernetes Benchmark v1.12, 3.2.1 and 3.2.2).

Rules are judged from the top and the first match decides, so what must never be silenced stands first, the few known
noises after it, and a rule that matches everything closes the list.
"""

from typing import Any, Final

WRITES: Final = ("create", "update", "patch", "delete", "deletecollection")
READS: Final = ("get", "list", "watch")

Rule = dict[str, Any]


def render_audit_policy() -> dict[str, Any]:
    """The policy as an `audit.k8s.io/v1` Policy object, ready to be written as YAML or JSON."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        # The event of the completed request holds all that the first stage would say, and its outcome.
        "omitStages": ["RequestReceived"],
        "rules": [*_sensitive(), *_guard_rails(), *_noise(), {"level": "Metadata"}],
    }


def _sensitive() -> list[Rule]:
    """Exactly Metadata, whoever asks and whatever the verb: who and when is recorded, bodies (keys, tokens) never."""
    return [
        {
            "level": "Metadata",
            "resources": [
                {"group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"]},
                {"group": "authentication.k8s.io", "resources": ["tokenreviews"]},
            ],
        },
        # `pods` does not cover these. An ephemeral container's body may hold an environment, so Metadata as well.
        {
            "level": "Metadata",
            "resources": [
                {
                    "group": "",
                    "resources": [
                        "pods/exec",
                        "pods/attach",
                        "pods/portforward",
                        "pods/proxy",
                        "pods/ephemeralcontainers",
                        "services/proxy",
                        "nodes/proxy",
                    ],
                }
            ],
        },
    ]


def _guard_rails() -> list[Rule]:
    """Changes to what guards the cluster, with their bodies: these objects cannot hold a key.

    Changes of workloads stay at Metadata (the last rule): a body may hold a key that somebody put there by mistake,
    even when admission refuses it, and the archive could never forget it. What a release changed is in its record.
    """
    return [
        {
            "level": "RequestResponse",
            "verbs": list(WRITES),
            "resources": [{"group": "rbac.authorization.k8s.io"}, {"group": "certificates.k8s.io"}],
            "omitManagedFields": True,
        },
        {
            "level": "Request",
            "verbs": list(WRITES),
            "resources": [
                {"group": "", "resources": ["namespaces", "resourcequotas", "limitranges", "serviceaccounts"]},
                {"group": "networking.k8s.io", "resources": ["networkpolicies"]},
                {"group": "admissionregistration.k8s.io"},
                {"group": "scheduling.k8s.io", "resources": ["priorityclasses"]},
            ],
            "omitManagedFields": True,
        },
    ]


def _noise() -> list[Rule]:
    """Reads that components of Kubernetes repeat without end; no write, no person and no workload is silenced."""
    return [
        _silent(["system:kube-proxy"], "", ["endpoints", "services", "nodes"]),
        _silent(["system:kube-proxy"], "discovery.k8s.io", ["endpointslices"]),
        _silent(["system:kube-controller-manager", "system:kube-scheduler"], "coordination.k8s.io", ["leases"]),
        _silent(["system:kube-controller-manager"], "metrics.k8s.io", ["nodes", "pods"]),
        _silent(["system:apiserver"], "", ["namespaces", "namespaces/status", "namespaces/finalize"]),
        {
            "level": "None",
            "users": ["system:anonymous", "system:apiserver"],
            "verbs": ["get"],
            "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version"],
        },
    ]


def _silent(users: list[str], group: str, resources: list[str]) -> Rule:
    scope = [{"group": group, "resources": resources}]
    return {"level": "None", "users": users, "verbs": list(READS), "resources": scope}

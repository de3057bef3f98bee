"""What a cluster has before Lantau comes: namespaces and classes of add-ons, rights of the sandbox's own users."""

from typing import Any, Final

from sandbox.cluster.nodes import SANDBOX_LABEL, SANDBOX_VALUE, STORAGE_CLASS_BODY
from sandbox.cluster.services import KWOK_USER

_LABELS: Final = {SANDBOX_LABEL: SANDBOX_VALUE}
_RBAC: Final = "rbac.authorization.k8s.io"
NAMESPACES: Final = ("envoy-gateway-system", "external-secrets", "monitoring")
ACCOUNT: Final = {"kind": "ServiceAccount", "name": "external-secrets", "namespace": "external-secrets"}

GATEWAY_CLASS: Final[dict[str, Any]] = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "GatewayClass",
    "metadata": {"name": "envoy-gateway", "labels": _LABELS},
    "spec": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
}


def rights() -> list[dict[str, Any]]:
    """What the fake kubelets may do: heartbeats, and the status and end of pods."""
    rules = [
        _rule("", "nodes", "get list watch"),
        _rule("", "nodes/status pods/status", "patch update"),
        _rule("", "pods", "get list watch patch delete"),
        _rule("", "events", "create patch update"),
        _rule("coordination.k8s.io", "leases", "get list watch create update patch"),
    ]
    subject = {"kind": "User", "apiGroup": _RBAC, "name": KWOK_USER}
    return _role("lantau-sandbox-kwok", rules, subject)


def objects() -> list[dict[str, Any]]:
    """Everything else, in the order in which it must be made; the GatewayClass comes after its definition."""
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": _LABELS}} for name in NAMESPACES
    ]
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT["name"], "namespace": ACCOUNT["namespace"], "labels": _LABELS},
    }
    return [
        *namespaces,
        account,
        *_role("external-secrets-controller", _external_secrets(), ACCOUNT),
        STORAGE_CLASS_BODY,
    ]


def _external_secrets() -> list[dict[str, Any]]:
    """The controller reads stores and claims, asks for tokens of the accounts that stores name, and writes Secrets."""
    kinds = "secretstores clustersecretstores externalsecrets clusterexternalsecrets pushsecrets clusterpushsecrets"
    own = [f"{kind}{part}" for kind in kinds.split() for part in ("", "/status", "/finalizers")]
    return [
        _rule("external-secrets.io", " ".join(own), "get list watch update patch"),
        _rule("external-secrets.io", "externalsecrets pushsecrets", "create delete"),
        _rule("generators.external-secrets.io", "generatorstates", "get list watch create update patch delete"),
        _rule("", "serviceaccounts namespaces configmaps", "get list watch"),
        _rule("", "serviceaccounts/token", "create"),
        _rule("", "secrets", "get list watch create update patch delete"),
        _rule("", "events", "create patch"),
    ]


def _rule(group: str, resources: str, verbs: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}


def _role(name: str, rules: list[dict[str, Any]], subject: dict[str, str]) -> list[dict[str, Any]]:
    metadata = {"name": name, "labels": _LABELS}
    reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name}
    return [
        {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules},
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": reference,
            "subjects": [subject],
        },
    ]

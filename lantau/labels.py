"""Names that every tier shares: label and taint keys, namespaces, priority classes."""

from typing import Final

PREFIX: Final = "lantau.internal"
POOL_LABEL: Final = f"{PREFIX}/pool"
ROLE_LABEL: Final = f"{PREFIX}/role"
TIER_LABEL: Final = f"{PREFIX}/tier"
MODEL_LABEL: Final = f"{PREFIX}/model"
RELEASE_LABEL: Final = f"{PREFIX}/release"
ROLE_TAINT: Final = ROLE_LABEL

NAMESPACE_BUSINESS: Final = "lantau-business"
NAMESPACE_VECTOR: Final = "lantau-vector"
NAMESPACE_INFERENCE: Final = "lantau-inference"
NAMESPACE_BATCH: Final = "lantau-batch"
NAMESPACE_SYSTEM: Final = "lantau-system"
NAMESPACES: Final = (
    NAMESPACE_BUSINESS,
    NAMESPACE_VECTOR,
    NAMESPACE_INFERENCE,
    NAMESPACE_BATCH,
    NAMESPACE_SYSTEM,
)

PRIORITY_ONLINE: Final = "lantau-online"
PRIORITY_STANDARD: Final = "lantau-standard"
PRIORITY_BATCH: Final = "lantau-batch"

GPU_RESOURCE: Final = "nvidia.com/gpu"


def standard_labels(name: str, *, instance: str, tier: str, version: str | None = None) -> dict[str, str]:
    """Labels of one object: Kubernetes' recommended set and the tier it belongs to.

    Sorted, so that a rendered object never differs by order alone.
    """
    labels = {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/instance": instance,
        "app.kubernetes.io/component": tier,
        "app.kubernetes.io/part-of": "lantau",
        "app.kubernetes.io/managed-by": "pulumi",
        TIER_LABEL: tier,
    }
    if version is not None:
        labels["app.kubernetes.io/version"] = version
    return dict(sorted(labels.items()))

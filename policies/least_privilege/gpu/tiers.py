"""Which pods may touch GPU nodes, and what asks for a GPU."""

import fnmatch
from collections.abc import Iterable, Iterator
from typing import Final

from policies.model.objects import Obj
from policies.model.pods import Container, Pod
from policies.model.values import UNKNOWN, Plain, child, items, join, number
from policies.settings import Settings

COMPONENT_LABEL: Final = "app.kubernetes.io/component"
RESOURCES: Final = (
    "nvidia.com/*",
    "*/*gpu*",
    "gpu.intel.com/*",
    "habana.ai/*",
    "huawei.com/Ascend*",
    "*/*npu*",
    "*/dcu*",
    "*/gcu*",
    "*/xpu*",
    "cambricon.com/*",
    "tencent.com/vcuda-*",
    "google.com/tpu",
    "cloud-tpus.google.com/*",
    "aws.amazon.com/neuron*",
)
DEVICE_CLASSES: Final = ("*gpu*", "*nvidia*", "*tpu*", "*npu*", "*neuron*")


def matches(value: Plain, patterns: Iterable[str]) -> bool:
    """Whether a text matches one of the patterns."""
    return isinstance(value, str) and any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns)


def tier_of(pod: Pod, settings: Settings) -> Plain:
    """Tier of a pod: its tier label, else its component label, else its namespace; empty when it has none.

    Anybody can write a label, but only the owner of a namespace can make pods in it. So a GPU tier is not believed in
    namespaces of other tiers, and work in an offline namespace is offline.
    """
    return tier_in(pod.obj, pod.labels, settings)


def tier_in(obj: Obj, labels: dict[str, Plain], settings: Settings) -> Plain:
    """Tier of what an object with these labels makes, in the object's namespace."""
    found = _labelled(labels, settings)
    if found is None:
        found = _placed(obj, settings)
    if found is UNKNOWN or not obj.namespace:
        return found
    special = (*settings.gpu_tiers, *settings.offline_tiers, *settings.gpu_system_tiers)
    if found in special and matches(obj.namespace, settings.foreign_namespaces):
        return ""
    offline = matches(obj.namespace, settings.offline_namespaces) and settings.offline_tiers
    return settings.offline_tiers[0] if offline and found in settings.gpu_tiers else found


def _labelled(labels: dict[str, Plain], settings: Settings) -> Plain:
    for key in (settings.tier_label, COMPONENT_LABEL):
        value = labels.get(key)
        if value is UNKNOWN or (isinstance(value, str) and value):
            return value
    return None


def _placed(obj: Obj, settings: Settings) -> str:
    if matches(obj.namespace, settings.offline_namespaces) and settings.offline_tiers:
        return settings.offline_tiers[0]
    if matches(obj.namespace, settings.gpu_namespaces):
        return settings.gpu_tiers[0] if settings.gpu_tiers else ""
    if obj.kind == "DaemonSet" and matches(obj.namespace, settings.gpu_system_namespaces):
        return settings.gpu_system_tiers[0] if settings.gpu_system_tiers else ""
    return ""


def asks(container: Container) -> bool:
    """Whether a container gets its GPUs from the scheduler."""
    if child(container.body, "resources", "claims") not in (None, []):
        return True
    amounts = child(container.body, "resources", "limits")
    return isinstance(amounts, dict) and any(
        matches(name, RESOURCES) and (amount is UNKNOWN or number(amount) != 0) for name, amount in amounts.items()
    )


def requests(pod: Pod) -> Iterator[tuple[str, Plain]]:
    """Places where a pod asks for GPUs: resources at both levels and dynamic resource claims."""
    holders = [(pod.path, pod.spec), *((c.path, c.body) for c in pod.containers())]
    places = [(f"{p}.resources.{f}", child(h, "resources", f)) for p, h in holders for f in ("limits", "requests")]
    for where, amounts in [*places, (f"{pod.path}.overhead", pod.spec.get("overhead"))]:
        if amounts is UNKNOWN:
            yield where, UNKNOWN
        elif isinstance(amounts, dict):
            for name, amount in amounts.items():
                if matches(name, RESOURCES) and (amount is UNKNOWN or number(amount) != 0):
                    yield join(where, name), name
    for path, claim in items(pod.setting("resourceClaims"), f"{pod.path}.resourceClaims"):
        yield path, UNKNOWN if claim is UNKNOWN else "a dynamic resource claim"

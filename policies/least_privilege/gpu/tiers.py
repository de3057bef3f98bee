"""Which pods may touch GPU nodes, and what asks for a GPU."""

import fnmatch
from collections.abc import Iterable, Iterator
from typing import Final

from policies.model.pods import Pod
from policies.model.values import UNKNOWN, Plain, child, items, join, number
from policies.settings import Settings

COMPONENT_LABEL: Final = "app.kubernetes.io/component"
RESOURCES: Final = (
    "nvidia.com/*",
    "amd.com/gpu*",
    "aliyun.com/gpu-*",
    "gpu.intel.com/*",
    "habana.ai/*",
    "huawei.com/Ascend*",
    "hygon.com/dcu*",
    "tencent.com/vcuda-*",
    "volcano.sh/*gpu*",
    "google.com/tpu",
)


def matches(value: Plain, patterns: Iterable[str]) -> bool:
    """Whether a text matches one of the patterns."""
    return isinstance(value, str) and any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns)


def tier_of(pod: Pod, settings: Settings) -> Plain:
    """Tier of a pod: its tier label, else its component label, else its namespace; empty when it has none."""
    for key in (settings.tier_label, COMPONENT_LABEL):
        value = pod.labels.get(key)
        if value is UNKNOWN or (isinstance(value, str) and value):
            return value
    if matches(pod.obj.namespace, settings.offline_namespaces) and settings.offline_tiers:
        return settings.offline_tiers[0]
    if matches(pod.obj.namespace, settings.gpu_namespaces):
        return settings.gpu_tiers[0] if settings.gpu_tiers else ""
    return ""


def requests(pod: Pod) -> Iterator[tuple[str, Plain]]:
    """Places where a pod asks for GPUs: resources at both levels and dynamic resource claims."""
    holders = [(pod.path, pod.spec), *((c.path, c.body) for c in pod.containers())]
    for path, holder in holders:
        for field in ("limits", "requests"):
            amounts = child(holder, "resources", field)
            where = f"{path}.resources.{field}"
            if amounts is UNKNOWN:
                yield where, UNKNOWN
            elif isinstance(amounts, dict):
                for name, amount in amounts.items():
                    if matches(name, RESOURCES) and (amount is UNKNOWN or number(amount) != 0):
                        yield join(where, name), name
    for path, claim in items(pod.setting("resourceClaims"), f"{pod.path}.resourceClaims"):
        yield path, UNKNOWN if claim is UNKNOWN else "a dynamic resource claim"

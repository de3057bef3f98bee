"""GPU-06: offline work stays off the online pool."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.placement import Wish, names_online_nodes, wishes
from policies.least_privilege.gpu.tiers import matches, tier_of
from policies.model.pods import Pod
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, items
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find offline pods that tolerate, select or are pinned to online nodes."""
    for pod in resource.pods:
        tier = tier_of(pod, settings)
        if tier is UNKNOWN or tier not in settings.offline_tiers:
            continue
        wanted = list(wishes(pod))
        for wish in wanted:
            answer = names_online_nodes(wish, settings)
            if answer is None:
                yield Unjudged(f"{pod.obj}: {wish.path}")
            elif answer:
                yield Finding(wish.path, "this sends offline work to cards that serve online traffic", pod.obj)
        if not any(_keeps_away(wish, settings) for wish in wanted):
            yield from _tolerations(pod, settings)


def _keeps_away(wish: Wish, settings: Settings) -> bool:
    """Whether a demand keeps the pod on other pools whatever it tolerates."""
    if (
        not wish.required
        or not (wish.values or wish.excluded)
        or wish.key not in (settings.role_label, settings.pool_label)
    ):
        return False
    return names_online_nodes(wish, settings) is False


def _tolerations(pod: Pod, settings: Settings) -> Iterator[Verdict]:
    for path, toleration in items(pod.setting("tolerations"), f"{pod.path}.tolerations"):
        answer = _reaches_online(toleration, settings)
        if answer is None:
            yield Unjudged(f"{pod.obj}: {path}")
        elif answer:
            yield Finding(path, "this lets offline work onto cards that serve online traffic", pod.obj)


def _reaches_online(toleration: Plain, settings: Settings) -> bool | None:
    if not isinstance(toleration, dict):
        return None if toleration is UNKNOWN else False
    key, effect = toleration.get("key"), toleration.get("effect")
    operator, value = toleration.get("operator"), toleration.get("value")
    if effect in ("PreferNoSchedule", "NoExecute"):
        return False
    if key is UNKNOWN or operator is UNKNOWN:
        return None
    if not key:
        return operator == "Exists"
    if key not in (settings.role_label, settings.pool_label):
        return False
    if operator == "Exists":
        return True
    if value is UNKNOWN:
        return None
    return matches(value, settings.online_roles if key == settings.role_label else settings.online_pools)


RULE: Final = Rule(
    control="GPU-06",
    name="gpu-offline-stays-offline",
    title="Offline work stays off the online pool",
    why="A long batch on an online card is latency for every user.",
    fix="Select an offline pool and tolerate its taint only.",
    severity=Severity.HIGH,
    nsa="Resource policies",
    uses=(
        "tier_label",
        "pool_label",
        "role_label",
        "offline_tiers",
        "offline_namespaces",
        "foreign_namespaces",
        "gpu_tiers",
        "gpu_roles",
        "online_roles",
        "online_pools",
    ),
    check=check,
)

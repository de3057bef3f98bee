"""Where a pod asks to run: node selectors, affinities and node names."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from policies.least_privilege.gpu.tiers import matches
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, Plain, among, child, items, join, number
from policies.settings import Settings

_MACHINE_KEYS: Final = frozenset({"node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"})
# Here the value is the part of the machine's name before the size: `p5` of `p5.48xlarge`, `a3` of `a3-highgpu-8g`.
_FAMILY_KEYS: Final = frozenset(
    {
        "karpenter.k8s.aws/instance-family",
        "eks.amazonaws.com/instance-family",
        "cloud.google.com/machine-family",
    }
)


@dataclass(frozen=True, slots=True)
class Wish:
    """One demand on a node label: `values` of `key`; None of a key that only has to exist. `required` or preferred.

    `excluded` are values of `key` that nodes must not have.
    """

    path: str
    key: Plain
    values: list[Plain] | None
    required: bool
    excluded: tuple[Plain, ...] = ()


def wishes(pod: Pod) -> Iterator[Wish]:
    """Demands on nodes."""
    selector = pod.setting("nodeSelector")
    where = f"{pod.path}.nodeSelector"
    if selector is UNKNOWN:
        yield Wish(where, UNKNOWN, None, required=True)
    elif isinstance(selector, dict):
        for key, value in selector.items():
            yield Wish(join(where, key), key, [value], required=True)
    affinity = child(pod.setting("affinity"), "nodeAffinity")
    base = f"{pod.path}.affinity.nodeAffinity"
    if affinity is UNKNOWN:
        yield Wish(base, UNKNOWN, None, required=True)
        return
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    for path, term in items(child(affinity, name, "nodeSelectorTerms"), f"{base}.{name}.nodeSelectorTerms"):
        yield from _term(path, term, required=True)
    name = "preferredDuringSchedulingIgnoredDuringExecution"
    for path, weighted in items(child(affinity, name), f"{base}.{name}"):
        yield from _term(f"{path}.preference", child(weighted, "preference"), required=False)


def _term(path: str, term: Plain, *, required: bool) -> Iterator[Wish]:
    for field in ("matchExpressions", "matchFields"):
        for where, expression in items(child(term, field), f"{path}.{field}"):
            if not isinstance(expression, dict):
                yield Wish(where, UNKNOWN, None, required)
                continue
            operator = expression.get("operator")
            if operator == "In":
                values = expression.get("values")
                yield Wish(where, expression.get("key"), values if isinstance(values, list) else [values], required)
            elif operator in ("Exists", "Gt") or (operator == "Lt" and not _next_to_none(expression)):
                yield Wish(where, expression.get("key"), None, required)
            elif operator == "NotIn":
                left_out = tuple(value for _, value in items(expression.get("values"), ""))
                yield Wish(where, expression.get("key"), [], required, left_out)
            elif operator is UNKNOWN:
                yield Wish(where, UNKNOWN, None, required)


def _next_to_none(expression: dict[str, Plain]) -> bool:
    """Whether a demand asks for less than one."""
    least = [number(value) for _, value in items(expression.get("values"), "")]
    return bool(least) and least[0] is not None and least[0] <= 1


def names_gpu_nodes(wish: Wish, settings: Settings) -> bool | None:
    """Whether a demand names GPU nodes; None when that hangs on an unknown."""
    if wish.key is UNKNOWN:
        return None
    if wish.excluded:
        # Leaving out every role without GPUs is naming the others.
        rest = set(settings.other_roles) <= {value for value in wish.excluded if isinstance(value, str)}
        return wish.key == settings.role_label and rest and _leaves_one(wish, settings.gpu_roles)
    if wish.key == settings.role_label:
        return _some(wish, settings.gpu_roles)
    if wish.key == settings.pool_label:
        return _some(wish, settings.gpu_pools)
    if among(wish.key, _MACHINE_KEYS):
        return _some(wish, settings.gpu_machines)
    if among(wish.key, _FAMILY_KEYS):
        values = [f"{value}.x" if isinstance(value, str) else value for value in wish.values or ()]
        values += [f"{value}-x" for value in wish.values or () if isinstance(value, str)]
        return _some(replace(wish, values=values), settings.gpu_machines)
    if matches(wish.key, settings.gpu_node_labels):
        return wish.values is None or any(value not in ("false", "0", False) for value in wish.values)
    if wish.key in ("metadata.name", "kubernetes.io/hostname"):
        return _some(wish, settings.gpu_nodes)
    return False


def names_online_nodes(wish: Wish, settings: Settings) -> bool | None:
    """Whether a demand names nodes of an online pool."""
    if wish.key is UNKNOWN:
        return None
    if wish.excluded:
        # Leaving out offline pools and not online ones leaves the online ones.
        offline = [role for role in settings.gpu_roles if role not in settings.online_roles]
        named = any(matches(value, offline) for value in wish.excluded)
        return wish.key == settings.role_label and named and _leaves_one(wish, settings.online_roles)
    if wish.key == settings.role_label:
        return _some(wish, settings.online_roles)
    return _some(wish, settings.online_pools) if wish.key == settings.pool_label else False


def _leaves_one(wish: Wish, roles: tuple[str, ...]) -> bool:
    return any(role not in wish.excluded for role in roles)


def _some(wish: Wish, patterns: tuple[str, ...]) -> bool | None:
    if wish.values is None:
        return False
    if any(matches(value, patterns) for value in wish.values):
        return True
    return None if any(value is UNKNOWN for value in wish.values) else False

"""Where a pod asks to run: node selectors, affinities and node names."""

from collections.abc import Iterator
from dataclasses import dataclass

from policies.least_privilege.gpu.tiers import matches
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, Plain, child, items, join
from policies.settings import Settings


@dataclass(frozen=True, slots=True)
class Wish:
    """One demand on a node label: `values` of `key`; None of a key that only has to exist. `required` or preferred."""

    path: str
    key: Plain
    values: list[Plain] | None
    required: bool


def wishes(pod: Pod) -> Iterator[Wish]:
    """Demands that name nodes; those that exclude nodes are none."""
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
            elif operator in ("Exists", "Gt", "Lt"):
                yield Wish(where, expression.get("key"), None, required)
            elif operator is UNKNOWN:
                yield Wish(where, UNKNOWN, None, required)


def names_gpu_nodes(wish: Wish, settings: Settings) -> bool | None:
    """Whether a demand names GPU nodes; None when that hangs on an unknown."""
    if wish.key is UNKNOWN:
        return None
    if wish.key == settings.role_label:
        return _some(wish, settings.gpu_roles)
    if wish.key == settings.pool_label:
        return _some(wish, settings.gpu_pools)
    if matches(wish.key, settings.gpu_node_labels):
        return wish.values is None or any(value not in ("false", "0", "", False, None) for value in wish.values)
    if wish.key in ("metadata.name", "kubernetes.io/hostname"):
        return _some(wish, settings.gpu_nodes)
    return False


def names_online_nodes(wish: Wish, settings: Settings) -> bool | None:
    """Whether a demand names nodes of an online pool."""
    if wish.key is UNKNOWN:
        return None
    if wish.key == settings.role_label:
        return _some(wish, settings.online_roles)
    return _some(wish, settings.online_pools) if wish.key == settings.pool_label else False


def _some(wish: Wish, patterns: tuple[str, ...]) -> bool | None:
    if wish.values is None:
        return False
    if any(matches(value, patterns) for value in wish.values):
        return True
    return None if any(value is UNKNOWN for value in wish.values) else False

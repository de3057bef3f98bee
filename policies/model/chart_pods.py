"""What the values of a chart say about the pods that it makes."""

from collections.abc import Iterator
from typing import Final

from policies.model.charts import charts_of
from policies.model.objects import Obj
from policies.model.pods import Container, Pod
from policies.model.values import UNKNOWN, Plain, word_set

_FLAGS: Final = ("hostNetwork", "hostPID", "hostIPC", "hostUsers")
_LISTS: Final = ("tolerations", "volumes", "topologySpreadConstraints")
_MAPS: Final = ("nodeSelector", "affinity")
_CONTEXTS: Final = ("containerSecurityContext", "securityContext", "podSecurityContext")
_TELLING: Final = frozenset((*_FLAGS, *_LISTS, *_MAPS, *_CONTEXTS, "extraVolumes", "resources", "nodeName"))
# Fields that only the security context of a pod has; charts call both kinds `securityContext`.
_OF_PODS: Final = word_set("fsGroup fsGroupChangePolicy supplementalGroups sysctls")


def chart_pods(obj: Obj) -> Iterator[Pod]:
    """Pods in part, one for each mapping of values that sets fields of pods; what is missing is the chart's own."""
    for chart in charts_of(obj):
        for path, values in chart.values:
            yield from _walk(obj, path, values)


def _walk(obj: Obj, path: str, value: Plain) -> Iterator[Pod]:
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield from _walk(obj, f"{path}[{index}]", member)
    elif isinstance(value, dict):
        # A mapping with containers is found by its shape.
        if not _TELLING.isdisjoint(value) and "containers" not in value:
            yield _pod(obj, path, value)
        for key, member in value.items():
            if isinstance(member, dict | list):
                yield from _walk(obj, f"{path}.{key}", member)


def _pod(obj: Obj, path: str, value: dict[str, Plain]) -> Pod:
    spec: dict[str, Plain] = {key: value[key] for key in _FLAGS if value.get(key) is UNKNOWN or value.get(key) is True}
    spec |= {key: value[key] for key in _LISTS if isinstance(value.get(key), list)}
    spec |= {key: value[key] for key in _MAPS if isinstance(value.get(key), dict)}
    if isinstance(value.get("nodeName"), str) and value["nodeName"]:
        spec["nodeName"] = value["nodeName"]
    more = value.get("extraVolumes")
    if isinstance(more, list):
        spec["volumes"] = [*spec.get("volumes", []), *more]
    known: list[Container] = []
    for key in _CONTEXTS:
        context = value.get(key)
        if isinstance(context, dict) and (key == "podSecurityContext" or not _OF_PODS.isdisjoint(context)):
            spec["securityContext"] = context
        elif isinstance(context, dict):
            known.append(Container(path, {"securityContext": context}, "values", partial=True))
    known.append(Container(path, {"resources": value.get("resources")}, "values", partial=True))
    labels = value.get("podLabels")
    metadata = {"labels": labels} if isinstance(labels, dict) else {}
    return Pod(obj, path, spec, metadata, f"{path}.podLabels", partial=True, known=known)

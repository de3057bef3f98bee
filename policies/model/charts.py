"""Helm charts that a program installs without rendering them: by Pulumi's Release, Flux, Argo CD or k3s."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from policies.model.objects import Obj
from policies.model.values import UNKNOWN, Plain, child, items, join, plain
from policies.model.yamltext import read_texts

RELEASE: Final = ("helm.sh", "Release")
_SCALARS: Final = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: where its values and its version stand. `versioned`: a version must say which chart it is."""

    obj: Obj
    values: tuple[tuple[str, Plain], ...]
    version: Plain = None
    version_path: str = "version"
    addresses: tuple[tuple[str, Plain], ...] = ()
    versioned: bool = False


def charts_of(obj: Obj) -> list[Chart]:
    """Charts that one object installs."""
    spec, path = child(obj.body, "spec"), join(obj.path, "spec")
    match (obj.group, obj.kind):
        case ("helm.sh", "Release") if obj.version == "v3":
            return [_release(obj)]
        case ("helm.toolkit.fluxcd.io", "HelmRelease"):
            wanted = child(spec, "chart", "spec")
            remote = child(wanted, "sourceRef", "kind") == "HelmRepository"
            own = ((f"{path}.values", child(spec, "values")),)
            return [Chart(obj, own, child(wanted, "version"), f"{path}.chart.spec.version", (), remote)]
        case ("helm.cattle.io", "HelmChart" | "HelmChartConfig"):
            values = (
                (f"{path}.valuesContent", _parsed(child(spec, "valuesContent"))),
                (f"{path}.set", _set(child(spec, "set"))),
            )
            chart = child(spec, "chart")
            addresses = ((f"{path}.repo", child(spec, "repo")), (f"{path}.chart", chart))
            inline = child(spec, "chartContent") is not None or chart is None
            return [Chart(obj, values, child(spec, "version"), f"{path}.version", addresses, not inline)]
        case ("argoproj.io", "Application"):
            return list(_application(obj, spec, path))
        case ("argoproj.io", "ApplicationSet"):
            return list(_application(obj, child(spec, "template", "spec"), f"{path}.template.spec"))
    return []


def _release(obj: Obj) -> Chart:
    chart = obj.body.get("chart")
    values = [(join(obj.path, "values"), obj.body.get("values"))]
    for path, text in items(obj.body.get("valueYamlFiles"), join(obj.path, "valueYamlFiles")):
        values.append((path, _parsed(text)))
    addresses = (
        (join(obj.path, "repositoryOpts.repo"), child(obj.body, "repositoryOpts", "repo")),
        (join(obj.path, "chart"), chart),
    )
    # A chart of a local folder, or one named by its digest, is one chart for ever.
    local = isinstance(chart, str) and ("@sha256:" in chart or chart.startswith((".", "/")))
    return Chart(obj, tuple(values), obj.body.get("version"), join(obj.path, "version"), addresses, not local)


def _application(obj: Obj, spec: Plain, path: str) -> Iterator[Chart]:
    sources = [(f"{path}.source", child(spec, "source")), *items(child(spec, "sources"), f"{path}.sources")]
    for where, source in sources:
        if isinstance(source, dict):
            helm = child(source, "helm")
            parameters = {
                name: child(parameter, "value")
                for _, parameter in items(child(helm, "parameters"), "")
                if isinstance(name := child(parameter, "name"), str)
            }
            values = (
                (f"{where}.helm.values", _parsed(child(helm, "values"))),
                (f"{where}.helm.valuesObject", child(helm, "valuesObject")),
                (f"{where}.helm.parameters", _set(parameters)),
            )
            address = ((f"{where}.repoURL", source.get("repoURL")),)
            revision, named = source.get("targetRevision"), source.get("chart") is not None
            yield Chart(obj, values, revision, f"{where}.targetRevision", address, named)


def _parsed(text: Plain) -> Plain:
    """Values that are written as a text of YAML."""
    if not isinstance(text, str):
        return text
    document = next(iter(read_texts(text)), None)
    return None if document is None or document.error is not None else plain(document.value)


def _set(flat: Plain) -> Plain:
    """Values that are written as `a.b.c: value`, as on Helm's command line."""
    if not isinstance(flat, dict):
        return flat
    found: dict[str, Plain] = {}
    for name, value in flat.items():
        *above, last = name.replace("\\.", "\0").split(".")
        place = found
        for key in above:
            inner = place.setdefault(key.replace("\0", "."), {})
            if not isinstance(inner, dict):
                break
            place = inner
        else:
            place[last.replace("\0", ".")] = _scalar(value)
    return found


def _scalar(value: Plain) -> Plain:
    if not isinstance(value, str) or value is UNKNOWN:
        return value
    if value.isdecimal() and len(value) < 20:
        return int(value)
    return _SCALARS.get(value, value)

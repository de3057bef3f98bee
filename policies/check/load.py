"""Resources out of the documents of a file."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from policies.check.export import Export, exported_resources
from policies.check.files import Source
from policies.check.items import SIGNATURE, Item, Program
from policies.model.yamltext import Text, read_texts

# Documents that programs other than Kubernetes read, but whose content reaches a cluster.
_NAMED_AS_MANIFESTS: Final = frozenset({"kustomization.yaml", "kustomization.yml"})
_MARKS: Final = frozenset({"apiVersion", "kind", "kube-apiserver-arg"})
_RENDER: Final = "helm template {chart} | lantau policy-check -"


def load(source: Source, text: str, *, first: bool = False) -> Program:
    """Program of one file's text. With `first` the first of two equal keys counts instead of the last."""
    program = Program(source.name, ())
    chart = source.chart if "{{" in text else ""
    if chart:
        program.skipped = not source.named
        where = source.title if source.named else chart
        told = f"{where}: templates of a Helm chart are judged as rendered: {_RENDER.format(chart=chart)}"
        (program.problems if source.named else program.notes).append(told)
        return program
    program.items = _items(source, program, text, first=first)
    return program


def _items(source: Source, program: Program, text: str, *, first: bool) -> Iterator[Item]:
    judged = False
    strip = _unmarked if SIGNATURE in text else None
    for document in read_texts(text, first=first):
        if document.error is not None:
            program.partial = True
            hint = f"; a template is judged as rendered: {_RENDER.format(chart='CHART')}" if "{{" in text else ""
            program.problems.append(f"{source.title}: {_document(document)}is no YAML or JSON: {document.error}{hint}")
            continue
        if document.value is None:
            continue
        reason = _no_manifest(source, document.value)
        if reason:
            if source.named:
                program.partial = True
                program.problems.append(f"{source.title}: document {document.number} {reason}")
            continue
        judged = True
        if document.repeated:
            program.repeated = True
            program.problems.extend(f"{source.title}: document {document.number}: {told}" for told in document.repeated)
        yield from _of_document(source, program, document.number, strip(document.value) if strip else document.value)
    if judged or program.problems:
        return
    program.skipped = not source.named
    if source.named:
        program.problems.append(f"{source.title}: is empty; there is nothing to judge")


def _document(document: Text) -> str:
    return f"document {document.number} " if document.number > 1 else ""


def _no_manifest(source: Source, value: Any) -> str:
    """Why a document is nothing to judge; empty when it is."""
    if isinstance(value, list):
        if not all(isinstance(member, dict) for member in value):
            return "is no manifest: a list must hold mappings with apiVersion and kind"
        looked_at = value
    elif isinstance(value, dict):
        looked_at = [value]
    else:
        return "is no manifest: it must be a mapping with apiVersion and kind"
    if source.named or Path(source.name).name in _NAMED_AS_MANIFESTS or exported_resources(value) is not None:
        return ""
    chart = Path(source.name).name == "Chart.yaml" and "kind" not in value
    return "holds no manifest" if chart or all(_MARKS.isdisjoint(each) for each in looked_at) else ""


def _of_document(source: Source, program: Program, number: int, value: Any) -> Iterator[Item]:
    resources = exported_resources(value)
    if resources is None:
        yield from map(functools.partial(_manifest, number), value if isinstance(value, list) else [value])
        return
    export = Export()
    yield from export.items(resources)
    if export.sealed:
        secrets = "1 secret is" if export.sealed == 1 else f"{export.sealed} secrets are"
        program.notes.append(
            f"{source.title}: {secrets} encrypted and not judged; pulumi stack export --show-secrets opens them"
        )


def _manifest(number: int, body: dict[str, Any]) -> Item:
    version, kind = body.get("apiVersion"), body.get("kind")
    token = ""
    if isinstance(version, str) and isinstance(kind, str):
        token = f"kubernetes:{version if '/' in version else f'core/{version}'}:{kind}"
    metadata = body.get("metadata")
    name = ""
    if isinstance(metadata, dict):
        name = next((n for key in ("name", "generateName") if isinstance(n := metadata.get(key), str)), "")
    return Item(number, token, name, f"urn:pulumi:manifest::check::{token or 'document'}::{number}-{name}", body)


def _unmarked(value: Any) -> Any:
    """Copy without the engine's mark of special values, which means nothing in a manifest."""
    if exported_resources(value) is not None:
        return value
    if isinstance(value, dict):
        return {key: _unmarked(member) for key, member in value.items() if key != SIGNATURE}
    if isinstance(value, list):
        return [_unmarked(member) for member in value]
    return value

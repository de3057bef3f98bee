"""Schemas for kubeconform: core kinds as published, custom kinds from the definitions that a cluster would install."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from sandbox.engine import crd_dir
from sandbox.engine.versions import FAMILIES

CORE: Final = "v1.36.0-local-strict"
"""The release of Kubernetes that the sandbox runs."""
LOCATIONS: Final = (
    "core/{{.ResourceKind}}{{.KindSuffix}}.json",
    "custom/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json",
)


def write(published: Path, kinds: set[tuple[str, str]], folder: Path) -> list[str]:
    """Write the schemas of `kinds`, as (apiVersion, kind), below `folder`; what `-schema-location` must be told.

    A kind that nobody publishes gets no schema, and kubeconform fails on it.
    """
    definitions = json.loads((published / CORE / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    for version, kind in kinds:
        group, _, name = version.rpartition("/")
        suffix = f"{group.split('.')[0]}-{name}" if group else name
        path = published / CORE / f"{kind.lower()}-{suffix}.json"
        if path.exists():
            schema = _standing_alone(json.loads(path.read_text(encoding="utf-8")), definitions)
            _save(folder / "core" / path.name, schema)
    for group, kind, version, schema in _custom():
        if (f"{group}/{version}", kind) in kinds:
            _save(folder / "custom" / group / f"{kind.lower()}_{version}.json", _strict(schema))
    return [str(folder / location) for location in LOCATIONS]


def _save(path: Path, schema: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(schema), encoding="utf-8")


def _standing_alone(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema with the definitions that it leads to inside: kubeconform finds no file that a schema refers to."""
    wanted: dict[str, Any] = {}

    def lead(node: Any) -> Any:
        if isinstance(node, list):
            return [lead(member) for member in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: lead(value) for key, value in node.items() if key != "$id"}
        name = reference.rpartition("/")[2]
        if name not in wanted:
            wanted[name] = {}
            wanted[name] = lead(definitions[name])
        return {"$ref": f"#/$defs/{name}"}

    return {**lead(schema), "$defs": wanted}


@cache
def _custom() -> tuple[tuple[str, str, str, dict[str, Any]], ...]:
    """Group, kind, version and schema of every definition that the engine's cache holds or can fetch."""
    return tuple(_definitions())


def _definitions() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for family in FAMILIES:
        for path in sorted(crd_dir(family.name).glob("*.yaml")):
            for document in yaml.load_all(path.read_text(encoding="utf-8"), _Loader):
                spec = document.get("spec", {}) if isinstance(document, dict) else {}
                if "group" in spec:
                    for version in spec["versions"]:
                        schema = version["schema"]["openAPIV3Schema"]
                        yield spec["group"], spec["names"]["kind"], version["name"], schema


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]
    """Without YAML 1.1's value type: a bare `=` in an enumeration is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:value"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _strict(schema: Any) -> Any:
    """As the API server takes it: a field that is not named is refused, and int-or-string means both."""
    if isinstance(schema, list):
        return [_strict(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _strict(value) for key, value in schema.items() if key != "x-kubernetes-validations"}
    if schema.get("x-kubernetes-int-or-string"):
        found.pop("type", None)
        found.pop("format", None)
        found["oneOf"] = [{"type": "integer"}, {"type": "string"}]
        found.pop("anyOf", None)
    kept = schema.get("x-kubernetes-preserve-unknown-fields")
    closed = schema.get("type") == "object" and isinstance(schema.get("properties"), dict)
    if closed and not kept and "additionalProperties" not in schema:
        found["additionalProperties"] = False
    return found

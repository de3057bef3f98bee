"""Resources out of files: YAML and JSON manifests, and files made by `pulumi stack export`."""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.model.documents import DocumentError, yaml_documents

SUFFIXES: Final = (".yaml", ".yml", ".json")
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_ASSETS: Final = frozenset({"c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"})
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  (the engine's marker of secrets, not one itself)


class InputError(Exception):
    """A file or configuration that cannot be judged; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Item:
    """One resource of a file: `document` counts from 1."""

    document: int
    token: str
    name: str
    urn: str
    props: dict[str, Any]
    outputs: dict[str, Any] | None = None
    protect: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """The resources of one file, which stack rules judge together."""

    file: str
    items: list[Item] = field(default_factory=list)


def files_of(paths: Iterable[str]) -> Iterator[str]:
    """Files named by the arguments; folders stand for the manifests below them, `-` for standard input."""
    for path in paths:
        if path == "-":
            yield path
            continue
        place = Path(path)
        if place.is_dir():
            found = sorted(
                p for p in place.rglob("*") if p.suffix in SUFFIXES and p.is_file() and not _hidden(p, place)
            )
            if not found:
                raise InputError(f"{path}: there is no .yaml, .yml or .json file in this folder")
            yield from map(str, found)
        elif place.exists():
            yield path
        else:
            raise InputError(f"{path}: there is no such file or folder")


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def load(file: str) -> Program:
    """Resources of one file; raises InputError."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{file}: cannot be read: {error.strerror if isinstance(error, OSError) else 'no UTF-8'}"
        ) from None
    program = Program(file)
    try:
        for number, document in enumerate(yaml_documents(text), start=1):
            program.items.extend(_items(file, number, document))
    except DocumentError as error:
        raise InputError(f"{file}: is no YAML or JSON: {_where(error)}") from None
    return program


def _where(error: DocumentError) -> str:
    """Place of a mistake without the text around it, which may hold a key."""
    cause = error.__cause__ or error.__context__
    if isinstance(cause, yaml.MarkedYAMLError) and cause.problem_mark is not None:
        mark = cause.problem_mark
        return f"{cause.problem} in line {mark.line + 1}, column {mark.column + 1}"
    return "the document expands to too many nodes" if "too many nodes" in str(error) else "it cannot be parsed"


def _items(file: str, number: int, document: Any) -> Iterator[Item]:
    if document is None:
        return
    if isinstance(document, list) and all(isinstance(member, dict) for member in document):
        for member in document:
            yield _manifest(number, member)
        return
    if not isinstance(document, dict):
        raise InputError(f"{file}: document {number} is no mapping; a manifest is a mapping with apiVersion and kind")
    state = document.get("deployment") or document.get("checkpoint")
    if isinstance(state, dict) and ("resources" in state or "latest" in state):
        state = state.get("latest", state)
        for index, resource in enumerate(state.get("resources") or [], start=1):
            yield from _exported(index, resource)
    else:
        yield _manifest(number, document)


def _manifest(number: int, body: dict[Any, Any]) -> Item:
    props = _texts(body)
    version, kind = props.get("apiVersion"), props.get("kind")
    token = ""
    if isinstance(version, str) and isinstance(kind, str):
        token = f"kubernetes:{version if '/' in version else f'core/{version}'}:{kind}"
    metadata = props.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    name = name if isinstance(name, str) else ""
    return Item(number, token, name, f"urn:pulumi:manifest::check::{token or 'document'}::{number}-{name}", props)


def _texts(value: Any) -> Any:
    """Copy with textual keys, as JSON has them."""
    if isinstance(value, dict):
        # The engine's mark of special values means nothing in a manifest.
        kept = ((key, member) for key, member in value.items() if key != _SIGNATURE)
        return {key if isinstance(key, str) else json.dumps(key, default=str): _texts(v) for key, v in kept}
    if isinstance(value, list):
        return [_texts(member) for member in value]
    return value


def _exported(index: int, resource: Any) -> Iterator[Item]:
    if not isinstance(resource, dict) or resource.get("delete") or not isinstance(resource.get("type"), str):
        return
    token: str = resource["type"]
    urn = str(resource.get("urn", ""))
    inputs, outputs = resource.get("inputs"), resource.get("outputs")
    yield Item(
        document=index,
        token=token,
        name=urn.rpartition("::")[2],
        urn=urn,
        props=_opened(inputs) if isinstance(inputs, dict) else {},
        outputs=_opened(outputs) if isinstance(outputs, dict) else None,
        protect=bool(resource.get("protect")),
    )


def _opened(value: Any) -> Any:
    """Secrets of an export: plaintext when it was exported with --show-secrets, otherwise unknown."""
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET:
            if isinstance(value.get("plaintext"), str):
                return _opened(json.loads(value["plaintext"]))
            return _opened(value["value"]) if "value" in value else UNKNOWN_STRING_VALUE
        signature = value.get(_SIGNATURE)
        if signature is not None and signature not in _ASSETS:
            # References to resources, and outputs with their dependencies; an output without a value is unknown.
            return _opened(value["value"]) if "value" in value else UNKNOWN_STRING_VALUE
        return {str(key): _opened(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_opened(member) for member in value]
    return value

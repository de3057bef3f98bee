"""Documents written inside texts: manifests in ConfigMaps, files of node bootstrap, here-documents of scripts."""

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import Plain, leaves, plain
from policies.model.yamltext import DocumentError, read_texts

__all__ = ["Document", "DocumentError", "documents", "yaml_documents"]

_WORDS: Final = ("apiVersion", "kube-apiserver-arg", "extraArgs", "apiGroups")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]{32,}={0,2}\s*")
_HEREDOC: Final = re.compile(r"<<-?\s*[\"']?([A-Za-z_]\w{0,40})[\"']?")
_DEPTH: Final = 4


def yaml_documents(text: str) -> Iterator[Any]:
    """Documents of a YAML (or JSON) text; raises DocumentError at the first one that cannot be read."""
    for document in read_texts(text):
        if document.error is not None:
            raise document.error
        yield document.value


@dataclass(frozen=True, slots=True)
class Document:
    """A mapping read out of a text at `path` of `obj`."""

    obj: Obj
    path: str
    body: dict[str, Plain]


def documents(resource: Resource) -> list[Document]:
    """Documents inside the texts of a resource, read once."""
    found: list[Document] | None = resource.cache.get("documents")
    if found is None:
        found = resource.cache["documents"] = []
        if not any(_may_hold(text) for text in resource.outline.texts):
            return found
        nested = frozenset(id(obj.body) for obj in resource.objects)
        for obj in resource.objects:
            for path, _, leaf in leaves(obj.body, obj.path, nested):
                if isinstance(leaf, str) and len(leaf) >= 32:
                    found.extend(Document(obj, path, body) for body in _in_text(leaf, _DEPTH))
    return found


def _may_hold(text: str) -> bool:
    return any(word in text for word in _WORDS) or _BASE64.fullmatch(text) is not None


def _in_text(text: str, depth: int) -> Iterator[dict[str, Plain]]:
    if not any(word in text for word in _WORDS):
        decoded = _decoded(text) if _BASE64.fullmatch(text) else None
        if decoded is not None and depth:
            yield from _in_text(decoded, depth - 1)
        return
    bodies = [body for part in (text, *_heredocs(text)) for body in _mappings(part)]
    for body in bodies:
        yield body
        if depth:
            for _, _, leaf in leaves(body):
                if isinstance(leaf, str) and len(leaf) >= 32:
                    yield from _in_text(leaf, depth - 1)


def _mappings(text: str) -> Iterator[dict[str, Plain]]:
    try:
        for document in yaml_documents(text):
            value = plain(document)
            if isinstance(value, list):
                # A patch in JSON's form, or objects without a List around them.
                value = {"items": value}
            if isinstance(value, dict):
                yield value
    except DocumentError:
        return


def _heredocs(text: str) -> Iterator[str]:
    """Bodies of here-documents, in one pass over the lines."""
    if "<<" not in text:
        return
    marker = ""
    body: list[str] = []
    for line in text.splitlines():
        if not marker:
            match = _HEREDOC.search(line)
            marker = match[1] if match else ""
        elif line.strip() == marker:
            yield "\n".join(body)
            marker, body = "", []
        else:
            body.append(line)


def _decoded(text: str) -> str | None:
    try:
        raw = base64.b64decode(text, validate=False)
        if raw[:2] == b"\x1f\x8b":
            raw = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw, 8 * 2**20)
        return raw.decode()
    except (binascii.Error, zlib.error, ValueError):
        return None

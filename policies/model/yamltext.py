"""YAML and JSON as the API server reads them, safe against texts that are made to exhaust the reader."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

LIMIT: Final = 200_000
"""Nodes a document may have through its aliases; without aliases only the length of the text bounds it."""
DEEPEST: Final = 150
"""Levels of nesting; definitions of custom resources, the deepest that people write, have about sixty."""

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_MARKER: Final = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^%", re.MULTILINE)
_CONTENT: Final = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_QUOTED: Final = re.compile(r"""(["'])(?!<)(?:(?!\1).){2,}\1""")
_TRUE: Final = frozenset({"yes", "true", "on"})


class DocumentError(ValueError):
    """A text that is no YAML, or one that expands without bound. The message quotes nothing of the text."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(f"{reason} in line {line}" if line else reason)


@dataclass(frozen=True, slots=True)
class Text:
    """One document: its place among the documents of the file (from 1) and its value or what is wrong with it.

    `repeated` tells of keys that stand twice in one mapping.
    """

    number: int
    value: Any = None
    error: DocumentError | None = None
    repeated: tuple[str, ...] = ()


def read_texts(text: str, *, first: bool = False) -> Iterator[Text]:
    """Documents of a YAML or JSON text, each on its own, so that a broken one hides no other.

    Of a key that stands twice the last one counts, as for Kubernetes; with `first` the first one does.
    """
    number = 0
    for start, line in _starts(text):
        chunk = text[start[0] : start[1]]
        read: Iterable[_Read] | None = _json(chunk, first=first)
        for value, repeated, error in _yaml(chunk, line, first=first) if read is None else read:
            number += 1
            yield Text(number, value, error, repeated)


def _starts(text: str) -> Iterator[tuple[tuple[int, int], int]]:
    """(start, end) of each document's text, and the number of lines before it."""
    if _DIRECTIVE.search(text):
        yield (0, len(text)), 0
        return
    marks = [match.start() for match in _MARKER.finditer(text)]
    if not marks or _CONTENT.search(text, 0, marks[0]):
        marks.insert(0, 0)
    line = text.count("\n", 0, marks[0])
    for start, end in zip(marks, [*marks[1:], len(text)], strict=True):
        yield (start, end), line
        line += text.count("\n", start, end)


_Read = tuple[Any, tuple[str, ...], DocumentError | None]


def _json(chunk: str, *, first: bool) -> list[_Read] | None:
    """Documents of a JSON text, one after the other; None when it is no JSON. JSON may hold tabs, YAML may not."""
    text = chunk.removeprefix("---").strip()
    if text[:1] not in ("{", "["):
        return None
    twice: list[str] = []

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(reversed(pairs)) if first else dict(pairs)
        if len(made) < len(pairs):
            twice.extend(f"the key {_shown(key)} stands twice in a mapping" for key in _again(pairs))
        return made

    decoder = json.JSONDecoder(object_pairs_hook=mapping)
    found: list[_Read] = []
    position = 0
    try:
        while position < len(text):
            value, position = decoder.raw_decode(text, position)
            found.append((value, tuple(twice), _too_deep(value)))
            twice.clear()
            while position < len(text) and text[position].isspace():
                position += 1
    except RecursionError:
        return [(None, (), DocumentError(f"the document is nested deeper than {DEEPEST} levels"))]
    except ValueError:
        return None
    return found


def _again(pairs: list[tuple[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            yield key
        seen.add(key)


def _too_deep(value: Any) -> DocumentError | None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            member
            for holder in level
            for member in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(member, dict | list)
        ]
        if not level:
            return None
    return DocumentError(f"the document is nested deeper than {DEEPEST} levels")


def _yaml(chunk: str, line: int, *, first: bool) -> Iterator[_Read]:
    control = _CONTROL.search(chunk)
    if control is not None:
        place = line + chunk.count("\n", 0, control.start()) + 1
        what = f"the control character U+{ord(control[0]):04X}, which no YAML may hold, stands"
        yield None, (), DocumentError(what, place)
        return
    try:
        loader = _Base(chunk)
        try:
            while loader.check_node():
                builder = _Builder(line, first=first)
                value = builder.document(loader.get_node())
                yield value, tuple(builder.repeated), None
        finally:
            loader.dispose()
    except DocumentError as error:
        yield None, (), error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        yield None, (), DocumentError(_reason(error), line + mark.line + 1 if mark is not None else 0)
    except (yaml.YAMLError, ValueError, RecursionError):
        yield None, (), DocumentError("it cannot be parsed")


def _reason(error: Any) -> str:
    """What the parser says, without what it quotes from the text."""
    problem = (error.problem or "it cannot be parsed").splitlines()[0]
    if "nesting depth" in problem:
        return f"the document is nested deeper than {DEEPEST} levels"
    return _QUOTED.sub("a name", problem)


def _shown(key: str) -> str:
    """A key, if it is a plain word."""
    return key if re.fullmatch(r"[A-Za-z][A-Za-z_.-]{0,39}", key) else f"of {len(key)} characters"


@dataclass(slots=True)
class _Builder:
    """Turns the nodes of one document into values; shared nodes are built once."""

    line: int
    first: bool = field(kw_only=True)
    nodes: int = 0
    known: dict[int, tuple[Any, int, int]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    repeated: list[str] = field(default_factory=list)

    def document(self, root: Any) -> Any:
        """Value of a document; raises DocumentError when it is too large once its aliases are written out."""
        value, size, _ = self.build(root, 1)
        if size > LIMIT and size > 4 * self.nodes:
            raise DocumentError(f"the document has more than {LIMIT:,} nodes once its aliases are written out")
        return value

    def build(self, node: Any, depth: int) -> tuple[Any, int, int]:
        """(value, nodes with aliases written out, height) of a node."""
        if isinstance(node, yaml.ScalarNode):
            self.nodes += 1
            return _scalar(node), 1, 0
        key = id(node)
        done = self.known.get(key)
        height = done[2] if done is not None else 0
        if depth + height > DEEPEST:
            raise DocumentError(f"the document is nested deeper than {DEEPEST} levels", self.place(node))
        if done is not None:
            return done
        if key in self.open:
            raise DocumentError("an alias contains itself", self.place(node))
        self.open.add(key)
        self.nodes += 1
        build = self.sequence if isinstance(node, yaml.SequenceNode) else self.mapping
        done = self.known[key] = build(node, depth + 1)
        self.open.discard(key)
        return done

    def place(self, node: Any) -> int:
        """Line of a node in the file."""
        return self.line + int(node.start_mark.line) + 1

    def sequence(self, node: Any, depth: int) -> tuple[Any, int, int]:
        """A list."""
        values: list[Any] = []
        size, height = 1, 0
        for member in node.value:
            value, more, high = self.build(member, depth)
            values.append(value)
            size += more
            height = max(height, high + 1)
        return values, size, height

    def mapping(self, node: Any, depth: int) -> tuple[Any, int, int]:
        """A mapping with its merges under its own keys."""
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        size, height = 1, 0
        for name, member in node.value:
            value, more, high = self.build(member, depth)
            size += more
            height = max(height, high + 1)
            if name.tag == f"{_TAG}merge":
                for part in reversed(value if isinstance(value, list) else [value]):
                    if not isinstance(part, dict):
                        raise DocumentError("what << merges is no mapping", self.place(name))
                    merged.update(part)
                continue
            if not isinstance(name, yaml.ScalarNode):
                raise DocumentError("a key is a list or a mapping", self.place(name))
            key = name.value if name.tag == f"{_TAG}str" else _text(_scalar(name))
            if key in values:
                self.repeated.append(
                    f"the key {_shown(key)} stands twice in a mapping, again in line {self.place(name)}"
                )
                if self.first:
                    continue
            values[key] = value
        return {**merged, **values} if merged else values, size, height


def _text(key: Any) -> str:
    """A key as JSON has it."""
    return key if isinstance(key, str) else json.dumps(key)


def _scalar(node: Any) -> Any:
    kind = node.tag.removeprefix(_TAG)
    convert = _CONVERT.get(kind)
    if convert is None:
        # Texts, dates, and tags of other programs, which Kubernetes' own reader ignores.
        return node.value
    try:
        return convert(node.value)
    except ValueError:
        return node.value


def _integer(text: str) -> Any:
    if ":" in text or len(text) > 400:
        # Minutes and seconds of YAML 1.1 are plain texts for Kubernetes.
        return text
    digits = text.replace("_", "")
    octal = re.fullmatch(r"([+-]?)0([0-7]+)", digits)
    return int(f"{octal[1]}0o{octal[2]}", 0) if octal else int(digits, 0)


def _number(text: str) -> Any:
    if ":" in text:
        return text
    return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))


def _binary(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, UnicodeDecodeError):
        return text


_CONVERT: Final[dict[str, Callable[[str], Any]]] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() in _TRUE,
    "int": _integer,
    "float": _number,
    "binary": _binary,
}

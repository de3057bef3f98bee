"""YAML files that people write, read with the line of every key, and never with duplicate keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scalarbool import ScalarBoolean

from lantau.problems import InvalidInput, Problem, fullwidth_hint, shown
from lantau.problems import Path as FieldPath

LARGEST_FILE_BYTES = 4 * 1024 * 1024
MOST_VALUES = 100_000
"""Keys and values of a file after its aliases are written out; our largest files have a few thousand."""
DEEPEST_NESTING = 50
LARGEST_INTEGER_BITS = 64


@dataclass(frozen=True)
class YamlFile:
    """The mapping in a YAML file together with where each key of it stands."""

    name: str
    data: dict[str, Any]
    tree: Any

    def line(self, path: FieldPath) -> int | None:
        """Line (from 1) of the deepest part of `path` that exists in the file, None when there is none."""
        node: Any = self.tree
        found: int | None = None
        for part in path:
            if isinstance(node, CommentedMap) and part in node:
                found = node.lc.key(part)[0] + 1
            elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
                found = node.lc.item(part)[0] + 1
            else:
                break
            node = node[part]
        return found


def plain(node: Any) -> Any:
    """The same tree in plain dicts, lists and scalars."""
    if isinstance(node, dict):
        return {str(key): plain(value) for key, value in node.items()}
    if isinstance(node, ScalarBoolean):
        # ruamel keeps a boolean with an anchor as an integer.
        return bool(node)
    if isinstance(node, list):
        return [plain(value) for value in node]
    for scalar in (bool, int, float, str):
        if isinstance(node, scalar):
            return scalar(node)
    return node


_CONTROL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]")
_QUOTED = re.compile(r"""(["'])(.+?)\1""")


def _reason(error: MarkedYAMLError) -> str:
    """What the parser says, without the values that it quotes from the file."""
    reason = (error.problem or "it cannot be parsed").splitlines()[0]
    if isinstance(error, DuplicateKeyError):
        key = _QUOTED.search(reason)
        return f"found duplicate key {shown(key[2])}" if key else "found duplicate key"
    return _QUOTED.sub(lambda quoted: shown(quoted[2]), reason)


def _hint(text: str, line: int | None) -> str:
    """Where full-width characters broke a file: on the refused line, on the one before it, or else on the first."""
    lines = text.splitlines()
    near = [line - 1, line - 2] if line else range(len(lines))
    for index in near:
        content = lines[index].split(" #")[0] if 0 <= index < len(lines) else ""
        if not content.lstrip().startswith("#") and (hint := fullwidth_hint(content)):
            return f"Look at line {index + 1}{hint}."
    return ""


def _excess(tree: Any) -> str:
    """What about a tree is beyond what a person writes; each shared node is visited once."""
    sizes: dict[int, tuple[int, int]] = {}
    open_nodes: set[int] = set()

    def measure(node: Any) -> tuple[int, int]:
        if isinstance(node, int) and node.bit_length() > LARGEST_INTEGER_BITS:
            raise _ExcessError("holds a number of more than 19 digits")
        if not isinstance(node, (dict, list)):
            return 1, 0
        if id(node) in open_nodes:
            raise _ExcessError("holds an alias that contains itself")
        if id(node) not in sizes:
            open_nodes.add(id(node))
            if len(open_nodes) > DEEPEST_NESTING:
                raise _ExcessError(f"is nested deeper than {DEEPEST_NESTING} levels")
            parts = [measure(part) for part in (node.values() if isinstance(node, dict) else node)]
            open_nodes.discard(id(node))
            sizes[id(node)] = 1 + sum(size for size, _ in parts), 1 + max((depth for _, depth in parts), default=0)
        return sizes[id(node)]

    try:
        size, depth = measure(tree)
    except _ExcessError as error:
        return str(error)
    if size > MOST_VALUES:
        return f"has more than {MOST_VALUES:,} values when its aliases are written out"
    return f"is nested deeper than {DEEPEST_NESTING} levels" if depth > DEEPEST_NESTING else ""


class _ExcessError(Exception):
    """A tree is refused while it is measured."""


def read_yaml(path: Path, *, what: str, how: str = "", example: str = "") -> YamlFile:
    """Read the YAML mapping in `path`.

    `what` names the kind of file in errors ("release file"), `how` says what to do when it is missing,
    `example` is the YAML to begin an empty file with.
    Raises InvalidInput when the file is missing, unreadable, too large, not YAML, not a mapping, or when its
    aliases, nesting or numbers are beyond what a person writes.
    """
    name = str(path)

    def refuse(message: str, fix: str = "", line: int | None = None) -> InvalidInput:
        return InvalidInput([Problem("", message, fix=fix, file=name, line=line)])

    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise refuse(f"this {what} is larger than {LARGEST_FILE_BYTES // 1024 // 1024} MiB")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise refuse(f"there is no such {what}", how) from None
    except IsADirectoryError:
        raise refuse(f"a folder stands where the {what} should be", how) from None
    except UnicodeDecodeError:
        raise refuse(f"this {what} is not UTF-8 text") from None
    except OSError as error:
        raise refuse(f"this {what} cannot be read: {error.strerror}") from None
    if control := _CONTROL.search(text):
        raise refuse(
            f"this {what} holds the control character U+{ord(control[0]):04X}, which no YAML file may",
            line=text.count("\n", 0, control.start()) + 1,
        )
    yaml = YAML(typ="rt")
    yaml.allow_duplicate_keys = False
    try:
        tree = yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise refuse(f"this is not valid YAML: {_reason(error)}", _hint(text, line), line=line) from None
    except RecursionError:
        raise refuse(f"this {what} is nested deeper than {DEEPEST_NESTING} levels") from None
    except ValueError:
        raise refuse(f"a number or a date in this {what} cannot be read: it is absurdly long, or no such day") from None
    except YAMLError:
        raise refuse("this is not valid YAML: it cannot be parsed", _hint(text, None)) from None
    if tree is None:
        raise refuse(f"this {what} is empty; it is a mapping of keys to values", example)
    if not isinstance(tree, CommentedMap):
        raise refuse(f"a {what} is a mapping of keys to values", _hint(text, None) or example)
    if excess := _excess(tree):
        raise refuse(f"this {what} {excess}")
    return YamlFile(name=name, data=plain(tree), tree=tree)

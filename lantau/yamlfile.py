"""YAML files that people write, read with the line of every key, and never with duplicate keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from lantau.problems import InvalidInput, Problem
from lantau.problems import Path as FieldPath

LARGEST_FILE_BYTES = 4 * 1024 * 1024


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
    if isinstance(node, list):
        return [plain(value) for value in node]
    for scalar in (bool, int, float, str):
        if isinstance(node, scalar):
            return scalar(node)
    return node


def read_yaml(path: Path, *, what: str, how: str = "") -> YamlFile:
    """Read the YAML mapping in `path`.

    `what` names the kind of file in errors ("release file"), `how` says what to do when it is missing.
    Raises InvalidInput when the file is missing, unreadable, too large, not YAML or not a mapping.
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
    yaml = YAML(typ="rt")
    yaml.allow_duplicate_keys = False
    try:
        tree = yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = (error.problem or "it cannot be parsed").splitlines()[0]
        raise refuse(f"this is not valid YAML: {reason}", line=mark.line + 1 if mark else None) from None
    except (YAMLError, ValueError, RecursionError):
        raise refuse("this is not valid YAML") from None
    if not isinstance(tree, CommentedMap):
        raise refuse(f"a {what} is a mapping of keys to values")
    return YamlFile(name=name, data=plain(tree), tree=tree)

"""Stack files: the structured key `lantau:stack` of a `Pulumi.<stack>.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lantau.modelling import parse
from lantau.problems import InvalidInput, Problem, dotted, nearest, shown
from lantau.stack.model import Stack
from lantau.yamlfile import YamlFile, read_yaml

STACK_KEY = "lantau:stack"
ROOT = ("config", STACK_KEY)
EXAMPLE = f"config:\n  {STACK_KEY}:\n    stage: test\n    …"
STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
PULUMI_KEYS = {"config", "encryptionsalt", "encryptedkey", "secretsprovider", "environment", "backend"}


def stack_file(root: Path, stack: str) -> Path:
    """Where the file of a stack lies below the project's folder."""
    return root / f"Pulumi.{stack}.yaml"


def stacks_of(root: Path) -> list[str]:
    """Names of the stacks that have a file, sorted."""
    return sorted(found.name.removeprefix("Pulumi.").removesuffix(".yaml") for found in root.glob("Pulumi.*.yaml"))


def check_stack_name(root: Path, stack: str) -> None:
    """Refuse what cannot be a stack's name with InvalidInput, before it becomes part of any path."""
    if STACK_NAME.fullmatch(stack):
        return
    known = ", ".join(stacks_of(root))
    there = f"Stacks here: {known}." if known else "There is no Pulumi.<stack>.yaml here yet."
    raise InvalidInput(
        [
            Problem(
                "",
                f"{shown(stack)} is not the name of a stack: letters, digits, - _ . only. {there}",
            )
        ]
    )


def read_stack_file(root: Path, stack: str) -> YamlFile:
    """Read the file of a stack.

    Raises InvalidInput when `stack` is no name, when the file is missing (naming those that exist) or not YAML.
    """
    check_stack_name(root, stack)
    path = stack_file(root, stack)
    if not path.is_file():
        known = stacks_of(root)
        raise InvalidInput([Problem("", f"there is no stack file {path.name}. {nearest(stack, known)}")])
    return replace(read_yaml(path, what="stack file", example=EXAMPLE), name=path.name)


def parse_stack(data: Mapping[str, Any], source: YamlFile | None = None) -> Stack:
    """Check the value of `lantau:stack`. Raises InvalidInput with every problem at once."""
    return parse(Stack, data, source=source, root=ROOT)


def load_stack(root: Path, stack: str) -> Stack:
    """Read and check the file of a stack, without Pulumi."""
    source = read_stack_file(root, stack)
    problems = [
        Problem(
            dotted((key,)),
            f"{shown(key)} is not a key of a stack file. {nearest(key, sorted(PULUMI_KEYS))}",
            file=source.name,
            line=source.line((key,)),
        )
        for key in source.data
        if key not in PULUMI_KEYS
    ]
    config = source.data.get("config")
    if problems:
        raise InvalidInput(problems)
    if not isinstance(config, dict) or not isinstance(config.get(STACK_KEY), dict):
        raise InvalidInput(
            [
                Problem(
                    "config",
                    f"a stack is described under {STACK_KEY}",
                    fix=EXAMPLE,
                    file=source.name,
                )
            ]
        )
    problems = [
        Problem(
            dotted(("config", key)),
            f"{shown(key)} is not read by this program. {nearest(key, [STACK_KEY])}",
            file=source.name,
            line=source.line(("config", key)),
        )
        for key in config
        if key.startswith("lantau:") and key != STACK_KEY
    ]
    if problems:
        raise InvalidInput(problems)
    return parse_stack(config[STACK_KEY], source)

"""The command `lantau policy-check`."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from policies.check.load import InputError, files_of, load
from policies.check.run import Checker, Line, read_configuration

CLEAN, FOUND, BAD_INPUT = 0, 1, 2


def policy_check_command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Manifests, folders, stack exports, or - .")],
    config: Annotated[Path | None, typer.Option("--config", help="Policy configuration, JSON or YAML.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Judge manifests and exported stacks by the policy pack, without an engine.

    Exit code: 0 when no mandatory rule is broken, 1 when one is, 2 when the input cannot be judged.
    """
    raise typer.Exit(run(paths, str(config) if config is not None else None, as_json=as_json))


def run(paths: list[str], config: str | Path | None = None, *, as_json: bool = False) -> int:
    """Judge and print; the exit code."""
    code = CLEAN
    try:
        checker = Checker(read_configuration(str(config) if config is not None else None))
        files = list(files_of(paths))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    for file in files:
        try:
            for line in checker.judge(load(file)):
                print(_text(line, as_json=as_json))
                if line.level == "mandatory":
                    code = max(code, FOUND)
        except InputError as error:
            print(f"error: {error}", file=sys.stderr)
            code = BAD_INPUT
    return code


def _text(line: Line, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(line.as_dict(), ensure_ascii=False)
    message = " ".join(line.message.split())
    return f"{line.file}#{line.document}: {line.level} {line.severity} {line.control} {line.policy}: {message}"


def main() -> None:
    """Entry point of `python -m policies.check`."""
    typer.run(policy_check_command)

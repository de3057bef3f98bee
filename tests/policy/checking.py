"""Runs `lantau policy-check` in this process and reads what it prints."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from typer.testing import CliRunner

from lantau.cli import app
from tests.policy.manifests import grant, role

BAD = role(grant(), grant("", "secrets", "list"))
"""A role that reads secrets: RBAC-05 at rules[1]."""
CLEAN = role(grant())


@dataclass(frozen=True)
class Checked:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Findings of `--json`."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def controls(self) -> list[str]:
        """Controls of the findings, sorted."""
        return sorted(line["control"] for line in self.lines)


def check(*arguments: object, stdin: bytes | None = None) -> Checked:
    """Run the command with `--json`."""
    return check_text("--json", *arguments, stdin=stdin)


def check_text(*arguments: object, stdin: bytes | None = None) -> Checked:
    """Run the command as people do."""
    result = CliRunner().invoke(app, ["policy-check", *map(str, arguments)], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Checked(result.exit_code, result.stdout, result.stderr)


def write(path: Path, *manifests: Any) -> Path:
    """Write manifests as the documents of one YAML file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\n".join(yaml.safe_dump(manifest) for manifest in manifests), encoding="utf-8")
    return path


def text(path: Path, content: str | bytes) -> Path:
    """Write a file as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path

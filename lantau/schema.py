"""JSON Schemas of stack and release files for editors: `python -m lantau.schema` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from lantau.release import Release
from lantau.stack import STACK_KEY, Stack

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
FOLDER: Final = "schemas"


def stack_schema() -> dict[str, Any]:
    """Schema of a `Pulumi.<stack>.yaml`: Pulumi's own keys are let through, `lantau:stack` is described."""
    stack = Stack.model_json_schema()
    definitions = stack.pop("$defs")
    return {
        "$schema": DRAFT,
        "title": "Stack file of Lantau",
        "type": "object",
        "required": ["config"],
        "properties": {"config": {"type": "object", "required": [STACK_KEY], "properties": {STACK_KEY: stack}}},
        "$defs": definitions,
    }


def release_schema() -> dict[str, Any]:
    """Schema of a release file."""
    return {"$schema": DRAFT, **Release.model_json_schema()}


def files() -> dict[str, str]:
    """Text of each schema by the name of its file."""
    schemas = {"stack.schema.json": stack_schema(), "release.schema.json": release_schema()}
    return {name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas.items()}


def write(root: Path) -> None:
    """Write the schemas below the project's folder."""
    (root / FOLDER).mkdir(exist_ok=True)
    for name, text in files().items():
        (root / FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path())

"""Schemas for editors: current, bound to the files, and of one mind with the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lantau.schema import files, release_schema, stack_schema
from lantau.yamlfile import read_yaml

PROJECT = Path(__file__).parents[3]
STACKS = sorted(PROJECT.glob("Pulumi.*.yaml"))
RELEASES = sorted((PROJECT / "releases").rglob("*.yaml"))


def content(path: Path) -> dict[str, Any]:
    return read_yaml(path, what="file", example="").data


@pytest.mark.parametrize("name", sorted(files()))
def test_the_schemas_of_the_repository_are_current(name: str) -> None:
    written = (PROJECT / "schemas" / name).read_text(encoding="utf-8")
    assert written == files()[name], "run: python -m lantau.schema"
    Draft202012Validator.check_schema(json.loads(written))


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_every_stack_file_is_valid_for_an_editor(path: Path) -> None:
    assert [error.message for error in Draft202012Validator(stack_schema()).iter_errors(content(path))] == []


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.stem)
def test_every_release_file_is_valid_for_an_editor(path: Path) -> None:
    assert [error.message for error in Draft202012Validator(release_schema()).iter_errors(content(path))] == []


def test_an_editor_marks_a_misspelt_key_and_a_wrong_stage() -> None:
    data = content(STACKS[0])
    data["config"]["lantau:stack"].update(stage="grey", modles={})
    found = {error.validator for error in Draft202012Validator(stack_schema()).iter_errors(data)}
    assert found == {"additionalProperties", "enum"}


@pytest.mark.parametrize("path", [*STACKS, *RELEASES], ids=lambda path: path.stem)
def test_every_file_names_its_schema_on_the_first_line(path: Path) -> None:
    mark, _, named = path.read_text(encoding="utf-8").splitlines()[0].partition("$schema=")
    assert mark == "# yaml-language-server: "
    assert (path.parent / named).resolve().parent == PROJECT / "schemas"
    assert (path.parent / named).is_file()


def test_every_field_of_a_stack_is_described() -> None:
    definitions = stack_schema()["$defs"]
    undescribed = [
        f"{name}.{field}"
        for name, definition in definitions.items()
        for field, schema in definition.get("properties", {}).items()
        if "description" not in schema
    ]
    assert undescribed == []

"""A small project on disk: one stack and its releases, to be broken by the tests."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lantau.platform import Platform, load_platform
from lantau.problems import InvalidInput

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the sandbox stack and of the release files."""
    shutil.copy(PROJECT / "Pulumi.sandbox.yaml", tmp_path / "Pulumi.sandbox.yaml")
    shutil.copytree(PROJECT / "releases", tmp_path / "releases")
    return tmp_path


@pytest.fixture
def edit(project: Path) -> Callable[[Callable[[dict[str, Any]], None]], None]:
    """Change the value of `lantau:stack` in the stack's file."""

    def apply(change: Callable[[dict[str, Any]], None]) -> None:
        path = project / "Pulumi.sandbox.yaml"
        yaml = YAML()
        tree = yaml.load(path.read_text())
        change(tree["config"]["lantau:stack"])
        with path.open("w") as file:
            yaml.dump(tree, file)

    return apply


@pytest.fixture
def refusal(project: Path, edit: Callable[..., None]) -> Callable[[Callable[[dict[str, Any]], None]], InvalidInput]:
    """Apply a change that must be refused, and give the refusal."""

    def apply(change: Callable[[dict[str, Any]], None]) -> InvalidInput:
        edit(change)
        with pytest.raises(InvalidInput) as caught:
            load_platform(project, "sandbox")
        return caught.value

    return apply


@pytest.fixture
def platform() -> Platform:
    """The sandbox stack of this project."""
    return load_platform(PROJECT, "sandbox")


@pytest.fixture
def stack_data(platform: Platform) -> dict[str, Any]:
    """The sandbox stack as plain data."""
    return copy.deepcopy(platform.stack.model_dump(mode="json"))

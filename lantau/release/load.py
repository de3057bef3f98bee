"""Release files: releases/<model>/<release>.yaml."""

from __future__ import annotations

from pathlib import Path

from lantau.modelling import parse
from lantau.problems import InvalidInput, Problem, bare, dotted, nearest, shown
from lantau.release.model import Release
from lantau.yamlfile import read_yaml

FOLDER = "releases"
EXAMPLE = "model:\n  name: Qwen/Qwen3-8B\n  image: registry.example.internal/team/weights@sha256:<64 hex digits>\n…"


def release_path(root: Path, model: str, release: str) -> Path:
    """Where the file of a release lies below the project's folder."""
    return root / FOLDER / model / f"{release}.yaml"


def releases_of(root: Path, model: str) -> list[str]:
    """Names of the releases of a model that have a file, sorted."""
    return sorted(path.stem for path in (root / FOLDER / model).glob("*.yaml"))


def read_release(root: Path, model: str, release: str) -> Release:
    """Read and check one release. Raises InvalidInput with the file and line of every problem."""
    path = release_path(root, model, release)
    if not path.is_file():
        known = releases_of(root, model)
        hint = nearest(release, known) if known else f"There is no folder {FOLDER}/{model} with releases yet."
        raise InvalidInput(
            [
                Problem(
                    dotted(("models", model)),
                    f"release {shown(release)} has no file in {FOLDER}/{bare(model)}. {hint}",
                )
            ]
        )
    source = read_yaml(path, what="release file", example=EXAMPLE)
    relative = type(source)(name=str(path.relative_to(root)), data=source.data, tree=source.tree)
    return parse(Release, source.data, source=relative)

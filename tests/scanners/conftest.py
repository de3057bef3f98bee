"""The scanners, and what they scan; nothing is skipped when a scanner cannot be had."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from tests.scanners import rendering, scan, tools

Scan = Callable[[str], scan.Answer]


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """Path of each scanner by name, installed if need be."""
    try:
        return tools.install(print)
    except SandboxError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> scan.Manifests:
    """All stacks of the repository, and of every business that `lantau new` writes, rendered."""
    root = tmp_path_factory.mktemp("manifests")
    projects = (rendering.ROOT, rendering.scenario_project(tmp_path_factory.mktemp("scenarios")))
    files = (
        file
        for project in projects
        for stack in rendering.stacks(project)
        for file in rendering.render(stack, root, project)
    )
    return scan.Manifests(root, tuple(files))


@pytest.fixture(scope="session")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the files that git tracks: what lies in the checkout beside them is nobody's to scan."""
    root = tmp_path_factory.mktemp("tracked")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=rendering.ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, target = rendering.ROOT / name, root / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    return root


@pytest.fixture(scope="session")
def scanned(
    programs: dict[str, Path], manifests: scan.Manifests, tracked: Path, tmp_path_factory: pytest.TempPathFactory
) -> Scan:
    """Answer of a scanner over everything, by the scanner's name; each runs once."""

    @cache
    def run(name: str) -> scan.Answer:
        if name == "gitleaks":
            over = (manifests.root, tracked)
            answers = [scan.gitleaks(programs[name], root, tmp_path_factory.mktemp(name)) for root in over]
            return scan.Answer(sum(each.judged for each in answers), sum((each.findings for each in answers), ()))
        return scan.manifests_by(name, programs, manifests, tmp_path_factory.mktemp(name))

    return run

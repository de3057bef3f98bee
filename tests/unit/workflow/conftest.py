"""A project with a stack of its own and a fake `pulumi`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.workflow.fake_pulumi import FakePulumi


@pytest.fixture
def pulumi(tmp_path: Path) -> FakePulumi:
    return FakePulumi(tmp_path / "bin")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: trial\nruntime: python\n")
    (folder / "Pulumi.dev.yaml").write_text("config:\n  trial:stack: {stage: test}\n")
    return folder

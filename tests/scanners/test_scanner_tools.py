"""Getting the scanners: pinned, hashed, of a licence that we may use, and in plain words when they cannot be had."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sandbox.engine.versions import Tool
from sandbox.errors import SandboxError
from tests.scanners import tools

WHEEL = tools.Wheel("checkov", "0", "bin/nothing", "MIT", "https://example.com")


@pytest.mark.parametrize("wheel", tools.WHEELS, ids=lambda wheel: wheel.name)
def test_the_lock_of_a_scanner_names_its_version_and_a_hash_for_each_archive(wheel: tools.Wheel) -> None:
    text = tools.requirements(wheel).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line]
    assert all(re.match(r"\S+==\S+ .*--hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert any(f"=={wheel.version} " in line for line in lines)


@pytest.mark.parametrize("tool", tools.GO_TOOLS, ids=lambda tool: tool.name)
def test_the_module_of_a_scanner_is_at_the_tables_version(tool: Tool) -> None:
    folder = tools.store().modules / tool.folder
    assert f"{tool.module} {tool.version}" in (folder / "go.mod").read_text(encoding="utf-8")
    assert f"{tool.module} {tool.version} h1:" in (folder / "go.sum").read_text(encoding="utf-8")


def test_no_scanner_has_a_licence_that_binds_its_users() -> None:
    assert {each.licence for each in (*tools.WHEELS, *tools.GO_TOOLS)} <= {"Apache-2.0", "MIT"}


def test_an_installation_that_fails_is_tried_again_and_then_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\necho x >> "$0.calls"\necho "no route to the index" >&2\nexit 2\n', encoding="utf-8")
    uv.chmod(0o755)
    monkeypatch.setattr(tools, "find_uv", lambda: uv)
    monkeypatch.setattr(tools, "_WAIT_SECONDS", 0)
    with pytest.raises(SandboxError, match=r"checkov 0 could not be installed(.|\n)*no route to the index"):
        tools._install(tmp_path / "cache" / "checkov-1", WHEEL, said.append)
    assert len((tmp_path / "uv.calls").read_text(encoding="utf-8").split()) == 3
    assert [line for line in said if "trying again" in line] == [
        "checkov: that failed, trying again (1 of 2)",
        "checkov: that failed, trying again (2 of 2)",
    ]
    assert not list((tmp_path / "cache").glob("*")), "nothing half done is left"


def test_an_installation_without_the_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_uv", lambda: tmp_path)
    monkeypatch.setattr(tools, "_run", lambda _uv, folder, _wheel: folder.mkdir(parents=True))
    with pytest.raises(SandboxError, match=r"holds no bin/nothing"):
        tools._install(tmp_path / "cache" / "checkov-1", WHEEL, lambda _text: None)


def test_an_archive_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.txt").write_text(f"kubernetes-validate==1.37.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    monkeypatch.setattr(tools, "requirements", lambda _wheel: tmp_path / "other.txt")
    told = tools._run(tools.find_uv(), tmp_path / "environment", WHEEL)
    assert told is not None
    assert "ash mismatch" in told


def test_a_finished_installation_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    tools.install(lambda _text: None)

    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert all(path.exists() for path in tools.install(lambda _text: None).values())

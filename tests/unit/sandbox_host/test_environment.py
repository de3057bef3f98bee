"""Which Python a project file asks for, and what is said when it is not there."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2

from sandbox.errors import SandboxError
from sandbox.host.environment import Options, PythonEnvironment


def options(root: Path, **given: Any) -> Options:
    struct = struct_pb2.Struct()
    struct.update(given)
    return Options.read(struct, root)


def make_environment(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    return folder


def test_a_relative_environment_counts_from_the_projects_root(tmp_path: Path) -> None:
    made = make_environment(tmp_path / ".venv")
    found = PythonEnvironment.find(options(tmp_path / "pack", virtualenv="../.venv"))
    assert (found.python, found.virtualenv) == (made / "bin" / "python", made)


def test_an_absolute_environment_is_taken_as_it_is(tmp_path: Path) -> None:
    made = make_environment(tmp_path / "elsewhere")
    assert PythonEnvironment.find(options(tmp_path / "project", virtualenv=str(made))).virtualenv == made


def test_its_programs_come_first_for_what_the_program_starts(tmp_path: Path) -> None:
    made = make_environment(tmp_path / ".venv")
    variables = PythonEnvironment.find(options(tmp_path, virtualenv=".venv")).variables(
        {"PATH": "/usr/bin", "PYTHONHOME": "/wrong", "PYTHONPATH": "/kept", "OTHER": "kept"}
    )
    assert variables == {
        "PATH": f"{made}/bin{os.pathsep}/usr/bin",
        "VIRTUAL_ENV": str(made),
        "PYTHONPATH": "/kept",
        "OTHER": "kept",
    }


def test_without_an_environment_the_python_on_path_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULUMI_PYTHON_CMD", raising=False)
    monkeypatch.setenv("PATH", str(make_environment(tmp_path / "env") / "bin"))
    (tmp_path / "env" / "bin" / "python3").symlink_to(sys.executable)
    found = PythonEnvironment.find(options(tmp_path))
    assert (found.python, found.virtualenv) == (tmp_path / "env" / "bin" / "python3", None)
    monkeypatch.setenv("PULUMI_PYTHON_CMD", "python")
    assert PythonEnvironment.find(options(tmp_path)).python.name == "python"


def test_no_python_on_path_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PULUMI_PYTHON_CMD", raising=False)
    with pytest.raises(SandboxError, match="no python3 on PATH"):
        PythonEnvironment.find(options(tmp_path))


def test_uv_keeps_its_environment_beside_the_lock_file(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").touch()
    assert options(tmp_path / "deep" / "project", toolchain="uv").virtualenv == tmp_path / ".venv"


def test_uv_without_a_lock_file_uses_the_projects_own(tmp_path: Path) -> None:
    assert options(tmp_path, toolchain="uv").virtualenv == tmp_path / ".venv"


@pytest.mark.parametrize(
    ("given", "files", "command"),
    [
        ({"virtualenv": "env"}, [], "python3 -m venv {root}/env && {root}/env/bin/pip install pulumi"),
        (
            {"virtualenv": "env"},
            ["requirements.txt"],
            "python3 -m venv {root}/env && {root}/env/bin/pip install -r {root}/requirements.txt",
        ),
        ({"virtualenv": ".venv"}, ["uv.lock"], "(cd {root} && uv sync)"),
        ({"toolchain": "uv"}, [], "(cd {root} && uv sync)"),
    ],
)
def test_a_missing_environment_is_named_with_the_command_that_makes_it(
    tmp_path: Path, given: dict[str, str], files: list[str], command: str
) -> None:
    for name in files:
        (tmp_path / name).touch()
    with pytest.raises(SandboxError) as raised:
        PythonEnvironment.find(options(tmp_path, **given))
    text = str(raised.value)
    assert f"the virtual environment {tmp_path}/" in text
    assert "does not exist" in text
    assert text.endswith(f"Make it with: {command.format(root=tmp_path)}")


def test_a_folder_that_is_no_environment_is_told_from_a_missing_one(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    with pytest.raises(SandboxError, match=r"holds no bin/python"):
        PythonEnvironment.find(options(tmp_path, virtualenv="env"))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"typechecker": "mypy"}, r"runtime\.options\.typechecker .* knows toolchain and virtualenv"),
        ({"toolchain": "poetry"}, r"runtime\.options\.toolchain .* 'poetry'; .* knows pip and uv"),
        ({"virtualenv": 3}, r"runtime\.options\.virtualenv .* must be the path of a folder"),
    ],
)
def test_options_that_cannot_be_obeyed_are_refused(tmp_path: Path, given: dict[str, Any], reason: str) -> None:
    with pytest.raises(SandboxError, match=reason):
        options(tmp_path, **given)


def test_a_python_that_does_not_work_is_told(tmp_path: Path) -> None:
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(SandboxError, match="does not work: broken"):
        PythonEnvironment.find(options(tmp_path, virtualenv="env")).describe()

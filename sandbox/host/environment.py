"""Which Python runs a program, plugin or policy pack: the virtual environment that its project file names."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from google.protobuf import json_format, struct_pb2

from sandbox.errors import SandboxError

DESCRIBE: Final = Path(__file__).with_name("describe.py")
TOOLCHAINS: Final = ("pip", "uv")
OPTIONS: Final = ("toolchain", "virtualenv")
DESCRIBE_TIMEOUT: Final = 60.0
"""Seconds; a cold disk with hundreds of packages takes a few."""


@dataclass(frozen=True)
class Options:
    """The `runtime.options` of a project file; `virtualenv` is absolute, or None when the file names none."""

    toolchain: str
    virtualenv: Path | None
    root: Path

    @classmethod
    def read(cls, options: struct_pb2.Struct, root: Path) -> "Options":
        """Raises SandboxError for an option that would be ignored, or a value that makes no sense."""
        given: dict[str, Any] = json_format.MessageToDict(options)
        unknown = sorted(set(given) - set(OPTIONS))
        if unknown:
            raise SandboxError(
                f"runtime.options.{unknown[0]} of the project in {root} is not known to the sandbox's language host; "
                f"it knows {' and '.join(OPTIONS)}"
            )
        toolchain, virtualenv = given.get("toolchain") or "pip", given.get("virtualenv") or ""
        if toolchain not in TOOLCHAINS:
            raise SandboxError(
                f"runtime.options.toolchain of the project in {root} is {toolchain!r}; "
                f"the sandbox's language host knows {' and '.join(TOOLCHAINS)}"
            )
        if not isinstance(virtualenv, str):
            raise SandboxError(
                f"runtime.options.virtualenv of the project in {root} must be the path of a folder, not {virtualenv!r}"
            )
        if virtualenv:
            return cls(toolchain, Path(os.path.normpath(root / virtualenv)), root)
        return cls(toolchain, _uv_environment(root) if toolchain == "uv" else None, root)


@dataclass(frozen=True)
class PythonEnvironment:
    """A Python and, when it belongs to a virtual environment, the folder of that."""

    python: Path
    virtualenv: Path | None

    @classmethod
    def find(cls, options: Options) -> "PythonEnvironment":
        """The Python that the options ask for. Raises SandboxError that says what is missing and how to make it."""
        if options.virtualenv is None:
            command = os.environ.get("PULUMI_PYTHON_CMD")
            for name in [command] if command else ["python3", "python"]:
                found = shutil.which(name)
                if found:
                    return cls(Path(found), None)
            raise SandboxError(f"there is no {command or 'python3'} on PATH to run the project in {options.root}")
        folder = options.virtualenv
        python = folder / "bin" / "python"
        if not os.access(python, os.X_OK):
            state = "does not exist" if not folder.exists() else "holds no bin/python"
            raise SandboxError(
                f"the virtual environment {folder}, which the project in {options.root} names in "
                f"runtime.options.virtualenv, {state}. Make it with: {recipe(options)}"
            )
        return cls(python, folder)

    def variables(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` as an activated environment has it: programs that it starts find this Python first."""
        values = dict(base)
        if self.virtualenv is not None:
            values["VIRTUAL_ENV"] = str(self.virtualenv)
            values["PATH"] = os.pathsep.join(filter(None, [str(self.virtualenv / "bin"), values.get("PATH", "")]))
            values.pop("PYTHONHOME", None)
        return values

    def describe(self) -> dict[str, Any]:
        """What the environment holds; see `describe.py`. Raises SandboxError when its Python does not work."""
        command = [str(self.python), str(DESCRIBE)]
        try:
            done = subprocess.run(
                command,
                env=self.variables(os.environ),
                capture_output=True,
                text=True,
                check=True,
                timeout=DESCRIBE_TIMEOUT,
            )
            content: dict[str, Any] = json.loads(done.stdout)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reason = getattr(error, "stderr", None) or error
            raise SandboxError(f"{self.python} does not work: {str(reason).strip()[-500:]}") from error
        return content


def recipe(options: Options) -> str:
    """The command that makes the environment that `options` name."""
    folder = options.virtualenv or options.root / ".venv"
    if (folder.parent / "uv.lock").is_file():
        return f"(cd {folder.parent} && uv sync)"
    if options.toolchain == "uv":
        return f"(cd {options.root} && uv sync)"
    install = f"{folder}/bin/pip install"
    requirements = options.root / "requirements.txt"
    return f"python3 -m venv {folder} && {install} {f'-r {requirements}' if requirements.is_file() else 'pulumi'}"


def _uv_environment(root: Path) -> Path:
    """Where uv keeps the environment of a project: beside the lock file of the workspace that it belongs to."""
    for folder in (root, *root.parents):
        if (folder / "uv.lock").is_file():
            return folder / ".venv"
    return root / ".venv"

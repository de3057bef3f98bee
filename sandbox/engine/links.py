"""Folders of finished programs: the tools' side by side, and for the engine a bin folder and a home."""

import hashlib
import os
import shlex
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from sandbox.engine.build import binary, recipe
from sandbox.engine.cache import Store, written_plainly
from sandbox.engine.versions import TOOLS
from sandbox.errors import SandboxError

CHECKOUT: Final = Path(__file__).resolve().parents[2]
MARKER: Final = ".lantau-engine"
"""A file in every bin folder of ours: a `pulumi` beside it was built by us and is nobody's own."""

_MODULE: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    'runpy.run_module("{module}", run_name="__main__", alter_sys=True)'
)
_PROVIDERS: Final = ("kubernetes", "random")


def tools_folder(store: Store) -> Path | None:
    """One folder with links to all tools of the control plane; None until all are built."""
    found = {tool.name: binary(store, tool) for tool in TOOLS if tool.group == "tools"}
    digest = hashlib.sha256("\n".join(sorted(str(path) for path in found.values())).encode()).hexdigest()[:16]
    folder = store.root / f"tools-{digest}"
    paths = {name: path for name, path in found.items() if path is not None}
    if len(paths) < len(found):
        return None
    with written_plainly(store.root):
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in paths.items():
            _link(folder / name, Path(os.path.relpath(path, folder)))
    return folder


def engine_folder(store: Store) -> Path | None:
    """`.lantau/bin` of this checkout, filled; None until the engine's programs are built.

    The cache is shared by checkouts, but the language host and the random provider are Python of one checkout, and the
    engine looks for its language hosts in the folder where it lies itself. So the engine is a hard link there (a
    symbolic one would send it back to the cache) and the Python ones are small scripts. Providers lie in `home_folder`:
    the engine warns about each that it has to take from PATH.
    """
    found = {tool.name: binary(store, tool) for tool in TOOLS if tool.group == "engine"}
    paths = {name: path for name, path in found.items() if path is not None}
    if len(paths) < len(found):
        return None
    folder = CHECKOUT / ".lantau" / "bin"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _hard_link(folder / "pulumi", paths["pulumi"])
        _script(folder / "pulumi-language-python", _launcher("sandbox.host.language"))
        _script(folder / "pulumi-resource-pulumi-python", _dynamic())
        _link(_plugin("kubernetes"), paths["pulumi-resource-kubernetes"])
        _script(_plugin("random"), _launcher("sandbox.host.random_provider"))
        for provider in _PROVIDERS:
            (folder / f"pulumi-resource-{provider}").unlink(missing_ok=True)  # where older checkouts had it
        _write(folder / MARKER, "the programs here belong to the engine that this checkout built\n", 0o644)
    except OSError as error:
        raise SandboxError(f"cannot write to {folder}: {error.strerror}") from error
    return folder


def home_folder() -> Path:
    """The PULUMI_HOME of our engine in this checkout, in which it finds its providers as installed plugins."""
    return CHECKOUT / ".lantau" / "home"


def is_ours(program: Path, store: Store) -> bool:
    """Whether a program on PATH is one that we built, for this checkout or another."""
    return (program.parent / MARKER).exists() or program.resolve().is_relative_to(store.root.resolve())


def current_folders(store: Store) -> list[Path]:
    """The folders of the cache that this checkout uses, built or not."""
    folders = [store.folder(tool, recipe(tool)) for tool in TOOLS]
    tools = tools_folder(store)
    return [*folders, tools] if tools else folders


def _plugin(provider: str) -> Path:
    """Where the engine looks for the program of a provider; the folder is made, and those of other versions removed.

    The engine asks for the version of the SDK that the stack's program imports, whatever version the program itself is.
    """
    try:
        version = metadata.version(f"pulumi-{provider}")
    except metadata.PackageNotFoundError as error:
        raise SandboxError(
            f"pulumi-{provider} is not installed for {sys.executable}; install what uv.lock names: uv sync"
        ) from error
    plugins = home_folder() / "plugins"
    folder = plugins / f"resource-{provider}-v{version}"
    for other in plugins.glob(f"resource-{provider}-v*"):
        if other.is_dir() and other != folder:
            shutil.rmtree(other, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"pulumi-resource-{provider}"


def _python() -> str:
    environment = CHECKOUT / ".venv" / "bin" / "python"
    return shlex.quote(str(environment if environment.exists() else sys.executable))


def _launcher(module: str) -> str:
    # -P and the path as an argument: the folder in which the engine runs is not searched, and the user's program, which
    # the host starts, inherits no PYTHONPATH that was meant for us.
    code = shlex.quote(_MODULE.format(module=module))
    return f'#!/bin/sh\nexec {_python()} -P -u -c {code} {shlex.quote(str(CHECKOUT))} "$@"\n'


def _dynamic() -> str:
    environment = '"${PULUMI_RUNTIME_VIRTUALENV}/bin/python"'
    return (
        f'#!/bin/sh\nif [ -n "${{PULUMI_RUNTIME_VIRTUALENV:-}}" ] && [ -x {environment} ]; then\n'
        f'    exec {environment} -u -m pulumi.dynamic "$@"\nfi\nexec {_python()} -u -m pulumi.dynamic "$@"\n'
    )


def _script(path: Path, text: str) -> None:
    _write(path, text, 0o755)


def _write(path: Path, text: str, mode: int) -> None:
    if path.is_file() and not path.is_symlink() and path.read_text(encoding="utf-8") == text:
        return
    new = _beside(path)
    new.write_text(text, encoding="utf-8")
    new.chmod(mode)
    new.replace(path)


def _link(path: Path, target: Path) -> None:
    if path.is_symlink() and path.readlink() == target:
        return
    new = _beside(path)
    new.symlink_to(target)
    new.replace(path)


def _hard_link(path: Path, target: Path) -> None:
    if path.exists() and _same(path, target):
        return
    new = _beside(path)
    try:
        new.hardlink_to(target)
    except OSError:  # the cache lies on another disk, or the file system has no hard links
        shutil.copy2(target, new)
    new.replace(path)


def _same(path: Path, target: Path) -> bool:
    if path.is_symlink():
        return False
    here, there = path.stat(), target.stat()
    return path.samefile(target) or (here.st_size == there.st_size and here.st_mtime == there.st_mtime)


def _beside(path: Path) -> Path:
    """A name of this process in the same folder, so that two processes that fill it do not meet."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    return new

"""Finds Pulumi's engine, or builds it and the sandbox's programs from Go modules, once for all checkouts."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.engine import build, crds, links
from sandbox.engine.cache import Store
from sandbox.engine.progress import Reporter, reporter_for
from sandbox.engine.versions import FAMILIES, TOOLS
from sandbox.errors import SandboxError

__all__ = ["Engine", "build_engine", "build_tools", "crd_dir", "find_engine", "find_tools"]

Progress = Reporter | Callable[[str], None] | None


@dataclass(frozen=True)
class Engine:
    """A Pulumi engine.

    `bin_dir` holds `pulumi` and its language host, and belongs in front of PATH; None when the engine is the user's
    own, which finds its parts itself. `built` says which of the two it is.
    """

    pulumi: Path
    bin_dir: Path | None
    built: bool

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """`base` (by default this process's environment) with what makes `pulumi` find its parts.

        Ours has a PULUMI_HOME of its own, with its providers in it, and fetches none; a login of the user's lies
        elsewhere then (PULUMI_CREDENTIALS_PATH leads there). The user's own `pulumi` gets `base` as it is.
        """
        values = dict(os.environ if base is None else base)
        if self.bin_dir is not None:
            values["PATH"] = os.pathsep.join(filter(None, [str(self.bin_dir), values.get("PATH", "")]))
            values["PULUMI_HOME"] = str(links.home_folder())
            values["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
        return values


def find_engine() -> Engine | None:
    """The user's `pulumi` on PATH, used as it is, or else ours when it is whole; None when it has to be built."""
    store = build.default_store()
    own = _on_path(store)
    if own is not None:
        return Engine(own, None, built=False)
    folder = links.engine_folder(store)
    return Engine(folder / "pulumi", folder, built=True) if folder else None


def build_engine(progress: Progress = None) -> Engine:
    """`find_engine`, after building what is missing.

    `progress` is a Reporter, a function that takes lines of text, or None for a bar or lines on standard error.
    Raises SandboxError; finished parts are kept, so that another call goes on where this one stopped.
    """
    store = build.default_store()
    engine = find_engine()
    if engine is None:
        build.build(store, [tool for tool in TOOLS if tool.group == "engine"], reporter_for(progress))
        engine = find_engine()
    if engine is None:
        raise _vanished("the engine", store)
    return engine


def find_tools() -> Path | None:
    """The folder with etcd, the three kube programs, kwok and external-secrets; None until all are built."""
    return links.tools_folder(build.default_store())


def build_tools(progress: Progress = None) -> Path:
    """`find_tools`, after building what is missing and fetching all definitions; otherwise as `build_engine`."""
    store = build.default_store()
    build.build(store, [tool for tool in TOOLS if tool.group == "tools"], reporter_for(progress))
    crds.fetch(store, FAMILIES, reporter_for(progress))
    folder = links.tools_folder(store)
    if folder is None:
        raise _vanished("the tools", store)
    return folder


def crd_dir(family: str, progress: Progress = None) -> Path:
    """The folder with the YAML files of a family of custom resource definitions, fetched once when it is not there yet.

    A file there may hold something else than a definition (a patch, a policy). SandboxError for an unknown family.
    """
    store, wanted = build.default_store(), crds.family(family)
    crds.fetch(store, [wanted], reporter_for(progress))
    folder = crds.fetched(store, wanted)
    if folder is None:
        raise _vanished(f"the definitions of {family}", store)
    return folder


def _vanished(what: str, store: Store) -> SandboxError:
    return SandboxError(f"{what} was finished and is gone again: something else removes files from {store.root}")


def _on_path(store: Store) -> Path | None:
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        candidate = Path(entry or ".") / "pulumi"
        if candidate.is_file() and os.access(candidate, os.X_OK) and not links.is_ours(candidate, store):
            return candidate.absolute()
    return None

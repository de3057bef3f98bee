"""Custom resource definitions of the add-ons, taken from the very module that upstream publishes."""

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from sandbox.engine import golang
from sandbox.engine.build import ended_by_signals
from sandbox.engine.cache import LOCK, Store, module_files, written_plainly
from sandbox.engine.lock import exclusive
from sandbox.engine.progress import Reporter
from sandbox.engine.versions import FAMILIES, Family
from sandbox.errors import SandboxError

_DEFINITIONS: Final = "definitions"


def family(name: str) -> Family:
    """The family of that name; SandboxError lists the known ones."""
    for found in FAMILIES:
        if found.name == name:
            return found
    known = ", ".join(found.name for found in FAMILIES)
    raise SandboxError(f"no family of custom resource definitions is called {name!r}; known are {known}")


def fetched(store: Store, wanted: Family) -> Path | None:
    """The folder of YAML files, when it is there and whole."""
    folder = store.family_folder(wanted)
    return folder / _DEFINITIONS if store.about(folder) is not None else None


def fetch(store: Store, families: Sequence[Family], reporter: Reporter) -> None:
    """Fetch those that are missing and hold their sums against the committed go.sum; no Go is needed when none is."""
    if all(fetched(store, wanted) for wanted in families):
        return
    with reporter, ended_by_signals(), written_plainly(store.root), exclusive(store.root / LOCK, reporter.say) as lock:
        missing = [wanted for wanted in families if not fetched(store, wanted)]
        if not missing:
            return
        store.sweep()
        try:
            go = golang.find_go(golang.required_version([store.modules / "crds" / "go.mod"]))
            for number, wanted in enumerate(missing, 1):
                _fetch(
                    store,
                    wanted,
                    go,
                    lock,
                    reporter,
                    f"definitions {number}/{len(missing)} {wanted.name} {wanted.version}",
                )
        finally:
            store.sweep()


def committed_sums(store: Store) -> dict[tuple[str, str], str]:
    """(module, version) → sum, from the go.sum of the module `crds`; versions of go.mod files end in `/go.mod`."""
    lines = (store.modules / "crds" / "go.sum").read_text(encoding="utf-8").splitlines()
    return {(module, version): value for module, version, value in (line.split() for line in lines)}


def _fetch(store: Store, wanted: Family, go: golang.Go, lock: int, reporter: Reporter, title: str) -> None:
    known = committed_sums(store).get((wanted.module, wanted.version))
    if known is None:
        raise SandboxError(
            f"modules/crds/go.sum has no sum of {wanted.module} {wanted.version}: add it, or nothing vouches for it"
        )
    partial = store.partial(f"crds-{wanted.name}")
    stage, out = partial / "module", partial / "out"
    stage.mkdir()
    for path in module_files("crds", store.modules):
        shutil.copy(path, stage)
    reporter.begin(title, 0)
    arguments = ["mod", "download", "-json", f"{wanted.module}@{wanted.version}"]
    answer = golang.run_go(go, arguments, stage, lock, lambda _line: None, lambda: reporter.update(0, ""))
    found = json.loads(answer)
    if found.get("Sum") != known:  # Go has compared already; this holds even if its checks are switched off
        raise SandboxError(f"{wanted.module} {wanted.version} is not the one whose sum was checked into this project")
    count = _copy(Path(found["Dir"]) / wanted.folder, out / _DEFINITIONS)
    store.publish(out, store.family_folder(wanted), {"module": wanted.module, "version": wanted.version, "sum": known})
    shutil.rmtree(partial, ignore_errors=True)
    reporter.end(f"{title}: {count} files")


def _copy(source: Path, target: Path) -> int:
    """Copy the YAML files that lie in `source`; returns their number."""
    files: Iterable[Path] = sorted(source.glob("*.yaml")) if source.is_dir() else []
    target.mkdir(parents=True)
    count = 0
    for path in files:
        shutil.copyfile(path, target / path.name)  # without the module cache's read-only mode
        count += 1
    if count == 0:
        raise SandboxError(f"there are no YAML files in {source}: the folder in the table of versions is wrong")
    return count

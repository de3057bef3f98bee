"""Every stack of the repository as plain manifests, one file an object, so that a finding names its object."""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pulumi
import yaml  # type: ignore[import-untyped]

from lantau.scenarios import write_scenario
from lantau.stack.model import ScenarioName, Stage
from tests.unit.components.recording import Recorded, record

ROOT: Final = Path(__file__).resolve().parents[2]
CLUSTER: Final = "_cluster"
"""Stands for the namespace of objects that have none."""


def stacks(root: Path = ROOT) -> list[str]:
    """Names of all stacks: a stack that is added is scanned from then on."""
    return sorted(path.name.split(".")[1] for path in root.glob("Pulumi.*.yaml"))


def scenario_project(folder: Path) -> Path:
    """The program with a stack of each business as it goes live, written by `lantau new`."""
    for name in ("__main__.py", "Pulumi.yaml"):
        shutil.copy(ROOT / name, folder / name)
    for scenario in ScenarioName:
        write_scenario(folder, scenario, Stage.PRODUCTION, f"{scenario}-new")
    return folder


def recorded(stack: str, root: Path = ROOT) -> Recorded:
    """What the program registers for a stack. Pulumi's configuration is left as it was."""
    config = yaml.safe_load((root / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))["config"]
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    pulumi.runtime.set_all_config(texts)
    try:
        return record(lambda: runpy.run_path(str(root / "__main__.py"), run_name="program") and None)
    finally:
        pulumi.runtime.set_all_config({})


def render(stack: str, folder: Path, root: Path = ROOT) -> list[Path]:
    """Write the Kubernetes objects of a stack below `folder`: `<stack>/<namespace>/<Kind>/<name>.yaml`."""
    written = []
    for resource in recorded(stack, root).resources:
        if not resource.type.startswith("kubernetes:"):
            continue
        manifest = plain(resource.inputs)
        path = folder / stack / (resource.namespace or CLUSTER) / manifest["kind"] / f"{resource.kubernetes_name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            yaml.safe_dump(manifest, file, sort_keys=False)
        written.append(path)
    return written


def plain(value: Any) -> Any:
    """Dictionaries and lists instead of the recording's mappings and tuples."""
    if isinstance(value, Mapping):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return value

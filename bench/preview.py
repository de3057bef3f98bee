"""Preview of a production stack with the policy pack against the same resources declared flat, paired in one run."""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from lantau.platform import load_platform
from sandbox.cluster import Sandbox
from workflow.pulumi import StackCommand
from workflow.target import engine, stack_nodes

PROJECT = Path(__file__).parent.parent
STACK = "hk-prod"
MANY_MODELS = 10
COMPONENT_PACKAGE = "lantau"


@dataclass(frozen=True)
class Pair:
    """Wall seconds of one preview with components and pack, and of one flat preview right after it."""

    whole: float
    flat: float

    @property
    def ratio(self) -> float:
        """How many times longer the whole takes."""
        return self.whole / self.flat


@dataclass(frozen=True)
class Measurement:
    """Paired previews of one stack."""

    models: int
    resources: int
    """Resources that reach a provider; components and the stack itself are not counted."""
    pairs: tuple[Pair, ...]

    @property
    def ratio(self) -> float:
        """Median of the paired ratios."""
        return statistics.median(pair.ratio for pair in self.pairs)

    @property
    def per_resource(self) -> float:
        """Median wall seconds of the whole preview for each resource."""
        return statistics.median(pair.whole for pair in self.pairs) / self.resources


def many_models(stack: dict[str, Any], count: int) -> dict[str, Any]:
    """The stack with `count` models like its first, and machines enough for them."""
    (name, model), *_ = stack["models"].items()
    stack["models"] = {name: model} | {f"{name}-{number}": dict(model) for number in range(2, count + 1)}
    for pool in stack["pools"].values():
        if pool["role"] == "online":
            first = pool["nodes"][0]
            pool["nodes"] = [*pool["nodes"], *(f"{first}-{number}" for number in range(2, count * 2 - 1))]
    return stack


@contextmanager
def rehearsal(folder: Path, models: int) -> Iterator[StackCommand]:
    """hk-prod with `models` models on an empty control plane that has the stack's nodes."""
    project = folder / f"project-{models}"
    project.mkdir()
    for name in ("components", "lantau", "provider", "policies", "releases", ".venv", "Pulumi.yaml", "__main__.py"):
        if name == "releases":
            shutil.copytree(PROJECT / name, project / name)
        else:
            (project / name).symlink_to(PROJECT / name)
    tree = YAML(typ="safe").load((PROJECT / f"Pulumi.{STACK}.yaml").read_text(encoding="utf-8"))
    stack = tree["config"]["lantau:stack"]
    first = next(iter(stack["models"]))
    many_models(stack, models)
    for name in stack["models"]:
        if name != first:
            shutil.copytree(project / "releases" / first, project / "releases" / name)
    with (project / f"Pulumi.{STACK}.yaml").open("w", encoding="utf-8") as file:
        YAML(typ="safe").dump(tree, file)
    platform = load_platform(project, STACK)
    sandbox = Sandbox(f"bench-{models}")
    try:
        sandbox.up(nodes=stack_nodes(platform))
        found = engine()
        kubeconfig = str(sandbox.kubeconfig(platform.stack.cluster.context))
        env = sandbox.env() | {"KUBECONFIG": kubeconfig}
        command = StackCommand(
            project,
            STACK,
            found,
            env,
            state_dir=sandbox.folder / "stack",
            transcript=folder / f"whole-{models}.txt",
        )
        command.prepare()
        yield command
    finally:
        sandbox.delete()


def flat_twin(command: StackCommand, folder: Path, models: int) -> tuple[StackCommand, int]:
    """A project that declares flat what `command` would create, and the number of its resources."""
    document = json.loads(command.capture_preview())
    resources = [
        {"type": state["type"], "name": f"r{number}", "inputs": without_marks(state.get("inputs") or {})}
        for number, step in enumerate(document["steps"])
        if (state := step.get("newState")) and state.get("custom")
    ]
    project = folder / f"flat-{models}"
    project.mkdir()
    (project / "flat.json").write_text(json.dumps(resources), encoding="utf-8")
    shutil.copy(Path(__file__).parent / "flat.py", project / "__main__.py")
    (project / "provider").symlink_to(PROJECT / "provider")
    (project / ".venv").symlink_to(PROJECT / ".venv")
    text = (PROJECT / "Pulumi.yaml").read_text(encoding="utf-8")
    (project / "Pulumi.yaml").write_text(text.split("config:")[0], encoding="utf-8")
    (project / f"Pulumi.{STACK}.yaml").write_text("config: {}\n", encoding="utf-8")
    twin = replace(command, project=project, transcript=folder / f"flat-{models}.txt")
    return twin, len(resources)


def without_marks(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs without what the provider or the engine added to them."""
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def measure(folder: Path, models: int, pairs: int) -> Measurement:
    """Preview whole and flat in turn, once unmeasured and `pairs` times measured."""
    with rehearsal(folder, models) as whole:
        flat, resources = flat_twin(whole, folder, models)
        found = []
        for round_number in range(pairs + 1):
            begin = time.perf_counter()
            whole.preview()
            middle = time.perf_counter()
            flat.preview(policies=False)
            pair = Pair(middle - begin, time.perf_counter() - middle)
            if round_number:
                found.append(pair)
        return Measurement(models, resources, tuple(found))

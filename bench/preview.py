"""Previews of a production stack with the policy pack, without it, and of the same resources declared flat."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from lantau.platform import load_platform
from sandbox.cluster import Sandbox
from workflow.errors import WorkflowError
from workflow.pulumi import POLICY_SETTINGS, StackCommand
from workflow.target import engine, stack_nodes

PROJECT = Path(__file__).parent.parent
STACK = "hk-prod"
MANY_MODELS = 10
LINES_OF_A_FAILURE = 40


@dataclass(frozen=True)
class Span:
    """Seconds of one run: by the clock, and of work by it and its children that ended."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Round:
    """One preview of each sort, one right after the other: with the pack, without it, and flat."""

    whole: Span
    bare: Span
    flat: Span

    @property
    def ratio(self) -> float:
        """How many times longer components and pack take than the same resources declared flat."""
        return self.whole.wall / self.flat.wall

    @property
    def overhead(self) -> float:
        """Share that the pack adds to the preview."""
        return self.whole.wall / self.bare.wall - 1

    @property
    def work(self) -> float:
        """The same share, of CPU seconds: other programs on the machine count less."""
        return self.whole.cpu / self.bare.cpu - 1


@dataclass(frozen=True)
class Measurement:
    """Rounds of previews of one stack."""

    models: int
    resources: int
    """Resources that reach a provider; components and the stack itself are not counted."""
    rounds: tuple[Round, ...]

    def median(self, of: Callable[[Round], float]) -> float:
        """Median over the rounds."""
        return statistics.median(map(of, self.rounds))

    @property
    def ratio(self) -> float:
        """Median of the ratios, each taken within its round."""
        return self.median(lambda each: each.ratio)

    @property
    def overhead(self) -> float:
        """Median share that the pack adds."""
        return self.median(lambda each: each.overhead)

    @property
    def per_resource(self) -> float:
        """Median wall seconds of the whole preview for each resource."""
        return self.median(lambda each: each.whole.wall) / self.resources

    @property
    def pack_per_resource(self) -> float:
        """Median wall seconds that the pack adds for each resource, its start included."""
        return self.median(lambda each: each.whole.wall - each.bare.wall) / self.resources


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
    parts = ("components", "lantau", "provider", "policies", "releases", ".venv", "Pulumi.yaml", "__main__.py")
    for name in (*parts, POLICY_SETTINGS.format(stack=STACK)):
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
    transcript = folder / f"whole-{models}.txt"
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
            transcript=transcript,
        )
        command.prepare()
        yield command
    except WorkflowError as error:
        # The transcript goes away with the bench's folder.
        said = transcript.read_text(encoding="utf-8", errors="replace") if transcript.exists() else ""
        raise WorkflowError("\n".join([*said.splitlines()[-LINES_OF_A_FAILURE:], str(error)])) from None
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


def timed(run: Callable[[], object]) -> Span:
    """Run and measure."""
    before, begin = os.times(), time.perf_counter()
    run()
    wall, after = time.perf_counter() - begin, os.times()
    return Span(wall, sum(after[:4]) - sum(before[:4]))


def measure(folder: Path, models: int, rounds: int) -> Measurement:
    """Preview with the pack, without it and flat in turn, once unmeasured and `rounds` times measured."""
    with rehearsal(folder, models) as whole:
        flat, resources = flat_twin(whole, folder, models)
        sorts: dict[str, Callable[[], object]] = {
            "whole": whole.preview,
            "bare": lambda: whole.preview(policies=False),
            "flat": lambda: flat.preview(policies=False),
        }
        found = []
        for number in range(rounds + 1):
            # Each sort comes first in turn, so that none of them always finds the machine warm.
            names = [*sorts][number % 3 :] + [*sorts][: number % 3]
            spans = {name: timed(sorts[name]) for name in names}
            if number:
                found.append(Round(**spans))
        return Measurement(models, resources, tuple(found))

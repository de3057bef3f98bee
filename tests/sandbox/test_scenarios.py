"""Every business that `lantau new` writes, on the real engine and a real API server with its own nodes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lantau.cli import app
from lantau.platform import Platform, load_platform
from lantau.stack.model import ScenarioName
from sandbox.cluster import Sandbox
from workflow.pulumi import StackCommand
from workflow.target import engine, stack_nodes

PROJECT = Path(__file__).parents[2]
PROGRAM = ("__main__.py", "Pulumi.yaml", "components", "lantau", "policies", "provider", "pyproject.toml")
STAGES = {
    ScenarioName.ASSISTANT: "production",
    ScenarioName.IMAGES: "gray",
    ScenarioName.KNOWLEDGE: "growth",
    ScenarioName.MEDIA: "production",
}
"""Each stage but the first is deployed by one of them; the unit tests judge all."""
Eventually = Callable[..., None]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program without any stack or release of its own, and what `lantau new` wrote beside it."""
    folder = tmp_path_factory.mktemp("project")
    for name in PROGRAM:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    (folder / ".venv").symlink_to(PROJECT / ".venv")
    for scenario, stage in STAGES.items():
        done = CliRunner().invoke(app, ["new", scenario, "--stage", stage, "--root", str(folder)])
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def deployed(project: Path, scenario: ScenarioName, tmp_path: Path) -> Iterator[tuple[Platform, Sandbox, StackCommand]]:
    """A scenario's stack with a sandbox that has its nodes."""
    name = f"{scenario}-{STAGES[scenario]}"
    platform = load_platform(project, name)
    sandbox = Sandbox(f"scenario-{os.getpid()}-{name}", home=tmp_path / "lantau")
    try:
        sandbox.up(nodes=stack_nodes(platform))
        env = sandbox.env() | {"KUBECONFIG": str(sandbox.kubeconfig(platform.stack.cluster.context))}
        command = StackCommand(project, name, engine(), env, state_dir=sandbox.folder / "stack")
        command.prepare()
        yield platform, sandbox, command
    finally:
        sandbox.delete()


@pytest.mark.parametrize("scenario", list(STAGES))
def test_a_new_stack_previews_deploys_runs_and_is_then_unchanged(
    deployed: tuple[Platform, Sandbox, StackCommand], eventually: Eventually
) -> None:
    platform, sandbox, command = deployed
    foreseen = command.preview().changes
    made = command.up().changes
    assert made["create"] == foreseen["create"] > 50
    assert set(command.up().changes) == {"same"}
    api = sandbox.api()
    try:
        wanted = {
            f"{name}-{release}": replicas
            for name, model in platform.stack.models.items()
            for release, replicas in model.replicas_by_release()
        }

        def ready() -> dict[str, int]:
            found = api.get("/apis/apps/v1/namespaces/lantau-inference/deployments") or {"items": []}
            return {
                item["metadata"]["name"]: item["status"].get("readyReplicas", 0)
                for item in found["items"]
                if item["metadata"]["name"] in wanted
            }

        eventually("every replica of every model is ready", lambda: ready() == wanted, timeout=60)
    finally:
        api.close()

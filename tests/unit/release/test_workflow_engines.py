"""Engines of workflows: what their releases say, how they are started, and how their memory is judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lantau.capacity.fit import Verdict
from lantau.capacity.releases import changes_for, fit_release
from lantau.catalog import cards
from lantau.problems import InvalidInput
from lantau.release import Release, read_release
from lantau.release.engine_args import ENGINE_FILE, launch, release_files

DIGEST = "sha256:" + "a" * 64
IMAGES: dict[str, Any] = {
    "model": {
        "name": "stabilityai/stable-diffusion-xl-base-1.0",
        "image": f"registry.example.internal/m/sdxl@{DIGEST}",
    },
    "engine": {"kind": "comfyui", "version": "0.3.60", "image": f"registry.example.internal/e/comfyui@{DIGEST}"},
    "workflow": {"memory_gib": 14.5},
    "resources": {"memory_gib": 48},
    "limits": {"requests_per_second": 2, "answer_seconds": 120},
}
FLAGS = {"max_model_len": 4096, "max_num_seqs": 4, "max_num_batched_tokens": 2048}
Write = Callable[..., Release]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Read a release of images with changes by section; None takes a section away."""

    def write(**changes: dict[str, Any] | None) -> Release:
        data = {key: dict(value) for key, value in IMAGES.items()}
        for section, values in changes.items():
            if values is None:
                del data[section]
            else:
                data.setdefault(section, {}).update(values)
        path = tmp_path / "releases/images/r1.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            YAML().dump(data, file)
        return read_release(tmp_path, "images", "r1")

    return write


def test_a_release_of_images_needs_no_flags_of_a_language_model(written: Write) -> None:
    release = written()
    assert release.gpus == 1
    assert release.requests_at_once == 32
    assert release.drain_seconds == 120


def test_comfyui_is_started_with_its_folders_where_it_may_write(written: Write) -> None:
    started = launch(written(), served_name="images", cards=[cards()["rtx-4090"]])
    assert started.port == 8188
    assert started.health_path == "/system_stats"
    folders = [word for word in started.command if word.startswith("/") and not word.startswith("/etc/lantau")]
    assert folders
    assert all(folder.startswith("/cache/") for folder in folders)


def test_comfyui_finds_the_models_of_the_weights_image(written: Write) -> None:
    release = written()
    files = release_files(release, launch(release, served_name="images", cards=[cards()["rtx-4090"]]))
    paths = YAML(typ="safe").load(files[ENGINE_FILE])["images"]
    assert paths["base_path"] == "/models/weights"
    assert paths["checkpoints"] == "checkpoints"


def test_callers_cannot_stop_or_change_what_others_run(written: Write) -> None:
    routes = {route.path for route in launch(written(), served_name="images", cards=[]).routes}
    assert routes == {"/prompt", "/queue", "/history", "/view"}


@pytest.mark.parametrize(
    ("changes", "where", "says"),
    [
        ({"workflow": None}, "workflow", "comfyui needs it"),
        ({"parameters": FLAGS}, "parameters", "does not read this"),
        ({"engine": {"kind": "vllm", "version": "0.19.0"}}, "workflow", "vllm does not read this"),
        ({"limits": {"answer_tokens": 100}}, "limits.answer_seconds", "both are given"),
        ({"limits": {"answer_seconds": None}}, "limits.answer_tokens", "the longest answer must be known"),
        ({"workflow": {"memory_gib": 0}}, "workflow.memory_gib", "greater than 0"),
    ],
)  # fmt: skip
def test_a_release_that_mixes_two_engines_is_refused_at_its_place(
    written: Write, changes: dict[str, Any], where: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        written(**changes)
    found = {problem.where: problem.message for problem in caught.value.problems}
    assert says in found[where], found


@pytest.mark.parametrize(
    ("gib", "verdict"), [(14.5, Verdict.FITS), (23.2, Verdict.DOES_NOT_FIT), (40.0, Verdict.DOES_NOT_FIT)]
)
def test_a_workflow_is_judged_by_what_was_measured_of_it(
    written: Write, tmp_path: Path, gib: float, verdict: Verdict
) -> None:
    release = written(workflow={"memory_gib": gib})
    found = fit_release(release, "rtx-4090", tmp_path)
    assert found.verdict is verdict
    assert f"{gib:.1f} GiB were measured" in found.reason
    assert changes_for(release, "rtx-4090", tmp_path) == []

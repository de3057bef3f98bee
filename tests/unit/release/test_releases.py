"""Release files: identity, drain times and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lantau.problems import InvalidInput
from lantau.release import Release, read_release
from lantau.release.model import PRE_STOP_SECONDS

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Callable[[dict[str, Any]], None]], Release]:
    """Write a changed copy of a release file and read it."""

    def write(change: Callable[[dict[str, Any]], None]) -> Release:
        yaml = YAML()
        tree = yaml.load((PROJECT / "releases/chat/qwen3-8b-r1.yaml").read_text())
        change(tree)
        path = tmp_path / "releases/chat/changed.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            yaml.dump(tree, file)
        return read_release(tmp_path, "chat", "changed")

    return write


def test_comments_and_layout_do_not_change_the_digest(tmp_path: Path) -> None:
    text = (PROJECT / "releases/chat/qwen3-8b-r1.yaml").read_text()
    path = tmp_path / "releases/chat/other.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("# another comment\n\n" + text)
    assert read_release(tmp_path, "chat", "other").digest == read_release(PROJECT, "chat", "qwen3-8b-r1").digest


def test_any_parameter_changes_the_digest(written: Callable[..., Release]) -> None:
    before = read_release(PROJECT, "chat", "qwen3-8b-r1").digest
    assert written(lambda release: release["parameters"].update(max_num_seqs=65)).digest != before


def test_the_grace_period_is_longer_than_pre_stop_and_the_longest_answer_together() -> None:
    release = read_release(PROJECT, "chat", "qwen3-8b-r1")
    assert release.drain_seconds == 164, "4096 tokens at 25 tokens a second"
    assert release.grace_seconds > PRE_STOP_SECONDS + release.drain_seconds


@pytest.mark.parametrize(
    ("change", "where", "says"),
    [
        (lambda r: r["engine"].update(version="0.17.1"), "engine.version", "drains from 0.18.0 on"),
        (lambda r: r["engine"].update(kind="vlm"), "engine.kind", "vllm"),
        (lambda r: r["engine"].update(image="a/b:1"), "engine.image", "pattern"),
        (
            lambda r: r["parameters"].update(max_num_batched_tokens=256, max_num_seqs=300),
            "parameters.max_num_batched_tokens",
            "300",
        ),
        (lambda r: r["parameters"].update(tensor_parallel_size=3), "parameters.tensor_parallel_size", "1, 2, 4 or 8"),
        (lambda r: r["parameters"].update(max_modl_len=1), "parameters.max_modl_len", 'Did you mean "max_model_len"?'),
        (lambda r: r["resources"].update(shared_memory_gib=48), "resources.shared_memory_gib", "part of memory_gib"),
        (lambda r: r["limits"].update(answer_tokens=16384), "limits.answer_tokens", "max_model_len"),
    ],
)
def test_a_mistake_in_a_release_is_refused_at_its_place(
    written: Callable[..., Release], change: Callable[[dict[str, Any]], None], where: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        written(change)
    (problem,) = caught.value.problems
    assert problem.where == where
    assert says in problem.message
    assert problem.file == "releases/chat/changed.yaml"
    assert problem.line


def test_a_release_without_a_file_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match='Did you mean "qwen3-8b-r1"'):
        read_release(PROJECT, "chat", "qwen3-8b-1")
    with pytest.raises(InvalidInput, match="no folder releases/chat"):
        read_release(tmp_path, "chat", "r1")

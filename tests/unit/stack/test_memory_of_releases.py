"""A release that its cards cannot hold is refused in the pull request, with the number that would be right."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from lantau.platform import load_platform
from lantau.problems import InvalidInput, Problem

CANARY = "r3"


@pytest.fixture
def release(project: Path) -> Callable[..., Path]:
    """Change values of a release file of the chat model, given as `block__key=value`."""

    def apply(name: str, **changes: object) -> Path:
        path = project / "releases" / "chat" / f"qwen3-8b-{name}.yaml"
        yaml = YAML()
        tree = yaml.load(path.read_text())
        for key, value in changes.items():
            block, _, field = key.partition("__")
            tree[block][field] = value
        with path.open("w") as file:
            yaml.dump(tree, file)
        return path

    return apply


def refused(project: Path) -> tuple[Problem, ...]:
    with pytest.raises(InvalidInput) as caught:
        load_platform(project, "sandbox")
    return caught.value.problems


@pytest.mark.parametrize("stack", ["hk-test", "hk-gray", "hk-prod", "sandbox"])
def test_every_shipped_release_fits_its_cards_for_certain(stack: str) -> None:
    assert load_platform(Path(__file__).parents[3], stack).warnings == ()


def test_a_model_larger_than_its_card_is_refused_with_what_it_takes(
    project: Path, release: Callable[..., Path]
) -> None:
    release(CANARY, model__name="Qwen/Qwen3-32B")
    (problem,) = (found for found in refused(project) if "rtx-4090" in found.message)
    assert problem.where == "config.lantau:stack.models.chat.canary.release"
    assert problem.file == "Pulumi.sandbox.yaml"
    assert problem.line
    assert "does not fit rtx-4090 of pool offline-4090" in problem.message
    assert "GiB of weights" in problem.message


def test_each_offered_change_makes_the_release_fit(project: Path, release: Callable[..., Path]) -> None:
    release(CANARY, parameters__max_num_seqs=256, parameters__max_model_len=40960)
    problems = refused(project)
    (problem,) = problems
    offers = [YAML(typ="safe").load(line) for line in problem.fix.splitlines() if not line.startswith("#")]
    assert offers
    for offer in offers:
        ((block, ((field, value),)),) = ((block, tuple(change.items())) for block, change in offer.items())
        release(CANARY, parameters__max_num_seqs=256, parameters__max_model_len=40960)
        path = release(CANARY, **{f"{block}__{field}": value})
        assert load_platform(project, "sandbox").warnings == (), offer
        yaml = YAML()
        tree = yaml.load(path.read_text())
        tree["parameters"].pop("kv_cache_dtype", None)
        tree["model"].pop("format", None)
        with path.open("w") as file:
            yaml.dump(tree, file)


def test_a_context_beyond_the_positions_of_the_model_is_refused_on_each_pool(
    project: Path, release: Callable[..., Path]
) -> None:
    release(CANARY, parameters__max_model_len=262144)
    assert ["40,960 positions of the model" in problem.message for problem in refused(project)] == [True, True]


def test_what_only_a_measurement_decides_is_deployed_with_a_warning(
    project: Path, release: Callable[..., Path]
) -> None:
    release(CANARY, parameters__max_model_len=32768)
    (warning,) = load_platform(project, "sandbox").warnings
    assert warning.warning
    assert "may not fit rtx-4090" in warning.message
    command = [sys.executable, "-m", "lantau", "check", "sandbox", "--root", str(project)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode == 0
    assert "warning: Pulumi.sandbox.yaml:" in shown.stderr


def test_a_model_that_the_catalogue_does_not_know_is_deployed_with_a_warning_and_not_guessed(
    project: Path, release: Callable[..., Path]
) -> None:
    release(CANARY, model__name="Our/Own-Model")
    warnings = load_platform(project, "sandbox").warnings
    assert len(warnings) == 2
    assert all("cannot be judged" in warning.message for warning in warnings)


def test_a_model_of_ones_own_is_judged_by_its_config_beside_the_release(
    project: Path, release: Callable[..., Path]
) -> None:
    path = release(CANARY, model__name="Our/Own-Model", model__config="own.json")
    (path.parent / "own.json").write_text(
        '{"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 1024, "num_hidden_layers": 28,'
        ' "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 3072,'
        ' "vocab_size": 151936, "tie_word_embeddings": true, "torch_dtype": "bfloat16",'
        ' "max_position_embeddings": 40960}'
    )
    assert load_platform(project, "sandbox").warnings == ()


@pytest.mark.parametrize("content", [None, "", "[]", "{", '{"model_type": "unheard-of"}'])
def test_a_config_that_cannot_be_read_is_said_and_never_guessed(
    project: Path, release: Callable[..., Path], content: str | None
) -> None:
    path = release(CANARY, model__config="own.json")
    if content is not None:
        (path.parent / "own.json").write_text(content)
    warnings = load_platform(project, "sandbox").warnings
    assert len(warnings) == 2
    assert all("cannot be judged" in warning.message for warning in warnings)


def test_the_release_that_a_rollback_needs_is_judged_too(project: Path, release: Callable[..., Path]) -> None:
    release("r1", model__name="Qwen/Qwen3-235B-A22B")
    assert any(problem.where.endswith("models.chat.previous") for problem in refused(project))

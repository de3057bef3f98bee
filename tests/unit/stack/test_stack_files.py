"""Stack files: what is accepted, and how a mistake is explained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lantau.platform import load_platform
from lantau.problems import InvalidInput
from lantau.stack import load_stack

PROJECT = Path(__file__).parents[3]
Refusal = Callable[[Callable[[dict[str, Any]], None]], InvalidInput]


@pytest.mark.parametrize("stack", sorted(path.name.split(".")[1] for path in PROJECT.glob("Pulumi.*.yaml")))
def test_every_stack_of_the_project_is_right(stack: str) -> None:
    assert load_platform(PROJECT, stack).releases


def test_the_four_environments_have_a_stack_file() -> None:
    assert {"sandbox", "hk-test", "hk-gray", "hk-prod"} <= {
        path.name.split(".")[1] for path in PROJECT.glob("Pulumi.*.yaml")
    }


def test_an_unknown_key_is_refused_by_name_with_the_nearest_valid_one_and_its_line(
    project: Path, refusal: Refusal
) -> None:
    error = refusal(lambda stack: stack["business"]["backend"].update(replicaz=3))
    (problem,) = error.problems
    assert problem.where == "config.lantau:stack.business.backend.replicaz"
    assert 'Did you mean "replicas"?' in problem.message
    line = (project / "Pulumi.sandbox.yaml").read_text().splitlines()[(problem.line or 0) - 1]
    assert "replicaz" in line


def test_the_value_of_an_unknown_key_is_never_repeated(refusal: Refusal) -> None:
    error = refusal(lambda stack: stack["secrets"].update({"password": "correct-horse"}))
    assert "correct-horse" not in str(error)


def test_several_mistakes_are_reported_at_once(refusal: Refusal) -> None:
    def change(stack: dict[str, Any]) -> None:
        stack["stage"] = "grey"
        stack["models"]["chat"]["canary"]["weight"] = 60
        del stack["business"]["host"]

    places = {problem.where.removeprefix("config.lantau:stack.") for problem in refusal(change).problems}
    assert places == {"stage", "models.chat.canary.weight", "business.host"}


def test_a_missing_key_is_explained_with_the_yaml_to_write(refusal: Refusal) -> None:
    (problem,) = refusal(lambda stack: stack["business"].pop("host")).problems
    assert problem.fix == "host: ai.example.hk"


@pytest.mark.parametrize(
    ("change", "where", "says"),
    [
        (lambda s: s["pools"]["data"].update(machine="epyc"), "pools.data.machine", "no machine class"),
        (lambda s: s["pools"]["data"].update(nodes=["data-1", "data-1"]), "pools.data.nodes", "named twice: data-1"),
        (
            lambda s: s["pools"]["data"].update(nodes=["data-1", "biz-1"]),
            "pools.data.nodes",
            "biz-1 is already in pool business",
        ),
        (
            lambda s: s["pools"]["online-a100"].update(machine="epyc-4585px-128g"),
            "pools.online-a100.machine",
            "has none",
        ),
        (
            lambda s: s["pools"]["business"].update(machine="a100-80g-x8"),
            "pools.business.machine",
            "inference or batch only",
        ),
        (
            lambda s: s["pools"]["online-a100"].update(shared_with_online=True),
            "pools.online-a100.shared_with_online",
            "only an offline pool",
        ),
        (lambda s: s["models"]["chat"].update(pool="onlin-a100"), "models.chat.pool", 'Did you mean "online-a100"?'),
        (lambda s: s["models"]["chat"].update(pool="data"), "models.chat.pool", "needs role online"),
        (lambda s: s["vector"].update(pool="business"), "vector.pool", "needs role data"),
        (
            lambda s: s["batch"]["embed-archive"].update(pool="online-a100"),
            "batch.embed-archive.pool",
            "needs role offline",
        ),
        (lambda s: s["pools"]["offline-4090"].pop("shared_with_online"), "models.chat.overflow", "not shared"),
        (
            lambda s: s["models"]["chat"]["canary"].update(release="qwen3-8b-r2"),
            "models.chat.canary.release",
            "already the stable",
        ),
        (lambda s: s["models"]["chat"].update(previous="qwen3-8b-r2"), "models.chat.previous", "is the stable release"),
        (
            lambda s: s["models"]["chat"].update(previous="qwen3-8b-r3"),
            "models.chat.canary.release",
            "kept warm as previous",
        ),
        (
            lambda s: s["models"]["chat"]["canary"].update(release="qwen3-8b-r4"),
            "models.chat.canary.release",
            'Did you mean "qwen3-8b-r3"?',
        ),
        (
            lambda s: s["business"]["backend"].update(image="registry.example/a/b:latest"),
            "business.backend.image",
            "pattern",
        ),
        (lambda s: s["secrets"].update(account=12), "secrets.account", "string"),
        (
            lambda s: s["models"]["chat"].update(replicas=30),
            "pools.online-a100",
            "has 16 cards, and models and jobs ask for 61",
        ),
        (lambda s: s["batch"]["embed-archive"].update(gpus=9), "batch.embed-archive", "one pod needs 9 cards"),
    ],
)
def test_a_mistake_is_refused_at_its_place_with_its_reason(
    refusal: Refusal, change: Callable[[dict[str, Any]], None], where: str, says: str
) -> None:
    error = refusal(change)
    assert any(
        problem.where.removeprefix("config.lantau:stack.") == where and says in f"{problem.message} {problem.fix}"
        for problem in error.problems
    ), str(error)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda s: s["pools"]["business"].update(nodes=["biz-1"]), "business.pool"),
        (lambda s: s["pools"]["online-a100"].update(nodes=["gpu-a100-1"]), "models.chat.pool"),
        (lambda s: s["business"]["backend"].update(replicas=1), "business.backend.replicas"),
        (lambda s: s["models"]["chat"].update(replicas=1), "models.chat.replicas"),
        (lambda s: s.update(protect_data=False), "protect_data"),
    ],
)
def test_production_stands_on_more_than_one_leg(
    refusal: Refusal, change: Callable[[dict[str, Any]], None], where: str
) -> None:
    def to_production(stack: dict[str, Any]) -> None:
        stack.update(stage="production", protect_data=True)
        change(stack)

    assert f"config.lantau:stack.{where}" in {problem.where for problem in refusal(to_production).problems}


def test_a_missing_stack_file_names_those_that_exist() -> None:
    with pytest.raises(InvalidInput, match="hk-prod"):
        load_stack(PROJECT, "hk-prd")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "mapping"),
        ("- a\n", "mapping"),
        ("config: [\n", "not valid YAML"),
        ("config: {}\nconfig: {}\n", "duplicate"),
        ("config: {}\n", "described under lantau:stack"),
        ("config:\n  lantau:stak: {}\n  lantau:stack: {}\n", 'Did you mean "lantau:stack"?'),
        ("confg: {}\n", 'Did you mean "config"?'),
        ("a: !!python/object:os.system x\n", "not a key of a stack file"),
    ],
)
def test_a_broken_file_is_explained_and_never_a_traceback(project: Path, text: str, says: str) -> None:
    (project / "Pulumi.sandbox.yaml").write_text(text)
    with pytest.raises(InvalidInput) as caught:
        load_stack(project, "sandbox")
    assert says in str(caught.value)


def test_data_that_pulumi_read_is_checked_like_the_file(project: Path, stack_data: dict[str, Any]) -> None:
    assert load_platform(project, "sandbox", stack_data).fingerprint == load_platform(project, "sandbox").fingerprint
    stack_data["models"]["chat"]["replicaz"] = 2
    with pytest.raises(InvalidInput, match=r"Pulumi\.sandbox\.yaml:[0-9]+: .*replicaz"):
        load_platform(project, "sandbox", stack_data)


@pytest.mark.parametrize("name", ["../x", "", "a b", "/etc/passwd", "x" * 101, "a\nb", "."])
def test_what_cannot_be_a_stack_name_is_refused_before_any_file_is_read(project: Path, name: str) -> None:
    for load in (load_stack, load_platform):
        with pytest.raises(InvalidInput) as caught:
            load(project, name)
        (problem,) = caught.value.problems
        assert "is not the name of a stack: letters, digits, - _ ." in problem.message
        assert "Stacks here: sandbox." in problem.message


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (lambda m: m.update(stable="gone-r1"), "stable"),
        (lambda m: m["canary"].update(release="gone-r1"), "canary.release"),
        (lambda m: m.update(previous="gone-r1"), "previous"),
    ],
)
def test_a_missing_release_is_told_at_the_line_that_points_to_it(
    project: Path, refusal: Refusal, change: Callable[[dict[str, Any]], None], pointer: str
) -> None:
    (problem,) = refusal(lambda stack: change(stack["models"]["chat"])).problems
    assert problem.where == f"config.lantau:stack.models.chat.{pointer}"
    assert problem.file == "Pulumi.sandbox.yaml"
    assert "gone-r1" in (project / problem.file).read_text().splitlines()[(problem.line or 0) - 1]

"""What the bench measures is a stack that could be deployed, and its flat twin is the same resources."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from bench.flat import snake
from bench.manifests import Maker
from bench.policies import measure as run_many
from bench.preview import MANY_MODELS, Measurement, Round, Span, many_models, without_marks
from lantau.platform import load_platform
from lantau.stack import STACK_KEY

PROJECT = Path(__file__).parents[3]


def test_ten_times_the_models_still_fit_on_their_machines(tmp_path: Path) -> None:
    tree = YAML(typ="safe").load((PROJECT / "Pulumi.hk-prod.yaml").read_text())
    stack = many_models(tree["config"][STACK_KEY], MANY_MODELS)
    assert len(stack["models"]) == MANY_MODELS
    for name in stack["models"]:
        shutil.copytree(PROJECT / "releases" / "chat", tmp_path / "releases" / name)
    assert len(load_platform(tmp_path, "hk-prod", stack).releases) == 3 * MANY_MODELS


@pytest.mark.parametrize(
    ("wire", "python"), [("apiVersion", "api_version"), ("spec", "spec"), ("globalDefault", "global_default")]
)
def test_wire_names_become_the_parameters_of_the_sdk(wire: str, python: str) -> None:
    assert snake(wire) == python


def test_what_the_engine_added_is_left_out_of_the_flat_twin() -> None:
    assert without_marks({"__fields": 1, "spec": 2}) == {"spec": 2}


def test_a_ratio_is_taken_pair_by_pair_so_that_drift_of_the_machine_does_not_count() -> None:
    spans = [(2.0, 1.6, 1.0), (40.0, 32.0, 20.0), (3.0, 1.0, 1.0)]
    found = Measurement(1, 10, tuple(Round(*(Span(wall, wall) for wall in each)) for each in spans))
    assert found.ratio == 2.0
    assert found.overhead == pytest.approx(0.25)


def test_the_manifests_of_the_bench_are_the_same_in_every_run_and_mostly_clean(tmp_path: Path) -> None:
    assert list(Maker().manifests(100)) == list(Maker().manifests(100))
    found = run_many(tmp_path, 100)
    assert [one.files for one in found] == [43, 1]
    assert all(0 < one.findings < 200 and one.peak > 20 and one.cpu > 0 for one in found)

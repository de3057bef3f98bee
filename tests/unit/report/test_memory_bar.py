"""The bar and the picture say what the estimate says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lantau.capacity.fit import Fit
from lantau.capacity.rank import Rank
from lantau.problems import InvalidInput
from lantau.report.chart import check_chart, write_chart
from lantau.report.memory import WIDTH, Judged, bar, legend, segments

RANK = Rank(
    stage=0, weights=8.0, activation=1.0, outside=0.5, graphs=0.5, budget=21.6, total=24.0,
    cache=12.0, cache_low=11.0, cache_high=13.0,
)  # fmt: skip
Fitted = Callable[..., Fit]


@pytest.fixture
def fitted() -> Fitted:
    from lantau.capacity.fit import Verdict

    def one(**changes: float) -> Fit:
        return Fit(Verdict.FITS, "for the picture", rank=replace(RANK, **changes))  # type: ignore[arg-type]

    return one


def test_the_parts_of_a_card_add_up_to_its_memory() -> None:
    assert sum(part.gib for part in segments(RANK)) == pytest.approx(RANK.total)


def test_the_bar_is_as_wide_as_the_card_and_each_part_as_its_share() -> None:
    text = bar(RANK).plain
    assert len(text) == WIDTH + 2
    assert text.count("█") == round(8 / 24 * WIDTH)
    assert text.count("=") == round(12 / 24 * WIDTH)


def test_what_exceeds_the_card_stands_behind_its_end() -> None:
    text = bar(replace(RANK, weights=48.0, cache=-30.0)).plain
    assert text[: text.index("]")].count("█") == WIDTH
    assert text.endswith("!")


def test_the_legend_names_each_part_with_its_size() -> None:
    text = legend(RANK).plain
    for part in ("weights 8.00", "activations 1.00", "cache 12.00", "of 24.00 GiB"):
        assert part in text


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_a_chart_is_written_in_the_format_of_its_name(tmp_path: Path, fitted: Fitted, ending: str) -> None:
    file = tmp_path / f"memory{ending}"
    write_chart(file, [Judged("a model on a card", fitted()), Judged("another", fitted(weights=20.0, cache=-3.0))])
    content = file.read_bytes()
    assert content.startswith(b"\x89PNG" if ending == ".png" else b"<?xml")
    assert len(content) > 5_000


def test_one_estimate_always_gives_the_same_picture(tmp_path: Path, fitted: Fitted) -> None:
    for name in ("one.svg", "two.svg"):
        write_chart(tmp_path / name, [Judged("a model", fitted())])
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_chart_of_nothing_is_refused(tmp_path: Path) -> None:
    from lantau.capacity.fit import Verdict

    with pytest.raises(InvalidInput, match="nothing to draw"):
        write_chart(tmp_path / "none.png", [Judged("unknown", Fit(Verdict.UNKNOWN, "no rule"))])


def test_a_chart_that_cannot_be_written_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="svg"):
        check_chart(tmp_path / "memory.pdf")
    with pytest.raises(InvalidInput, match="folder"):
        check_chart(tmp_path / "missing" / "memory.png")


def test_a_folder_in_the_place_of_the_chart_is_named_as_the_reason(tmp_path: Path, fitted: Fitted) -> None:
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_chart(tmp_path / "taken.png", [Judged("a model", fitted())])

"""The page about capacity says what the estimator says today."""

from __future__ import annotations

from pathlib import Path

from bench.capacity import residuals

PAGE = Path(__file__).parents[3] / "docs/capacity.md"


def test_the_table_of_the_page_is_what_the_bench_prints() -> None:
    _, _, after = PAGE.read_text(encoding="utf-8").partition("--residuals -->\n")
    table, _, _ = after.partition("<!-- end")
    assert table.splitlines() == list(residuals())

"""Many questions from a file, one answer a line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import typer

from lantau.capacity.cases import Case, CaseError, answer, judge, read_case
from lantau.capacity.fit import Fit
from lantau.cli.options import refuse
from lantau.report.memory import Judged

MOST_DRAWN = 40
"""Bars that one picture can show legibly."""


def fit_cases(source: str, *, as_json: bool, chart: Path | None) -> None:
    """Answer each line; a line that is no case is named on standard error, and the others are answered."""
    found: list[tuple[Case, Fit]] = []
    bad = 0
    with _opened(source) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                case = read_case(line, number)
            except CaseError as error:
                typer.echo(f"lantau: {'standard input' if source == '-' else source}: {error}", err=True)
                bad += 1
                continue
            judged = judge(case)
            if as_json:
                sys.stdout.write(json.dumps(answer(case, judged), ensure_ascii=False) + "\n")
            if not as_json or chart:
                found.append((case, judged))
    if not as_json:
        _table(found)
    if chart is not None:
        from lantau.report.chart import write_chart

        write_chart(chart, [Judged(case.id, judged) for case, judged in found[:MOST_DRAWN]])
        if len(found) > MOST_DRAWN:
            typer.echo(f"the picture has the first {MOST_DRAWN} of {len(found)} cases", err=True)
    if bad:
        raise typer.Exit(2)


@contextmanager
def _opened(source: str) -> Iterator[TextIO]:
    if source == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        yield sys.stdin
        return
    path = Path(source)
    try:
        # A line that is no text is no case either; it must not keep the others from being answered.
        with path.open(encoding="utf-8", errors="replace") as file:
            yield file
    except OSError as error:
        refuse(f"{source}: cannot be read: {error.strerror}")


def _table(found: list[tuple[Case, Fit]]) -> None:
    from rich.table import Table

    from lantau.report.console import console

    table = Table("case", "verdict", "weights", "cache", "tokens", "requests", "reason", box=None)
    for column in ("weights", "cache", "tokens", "requests"):
        next(each for each in table.columns if each.header == column).justify = "right"
    for case, judged in found:
        row = answer(case, judged)
        table.add_row(
            case.id,
            judged.verdict.value,
            *("" if row[key] is None else f"{row[key]:.2f}" for key in ("weights_gib", "kv_cache_gib")),
            "" if row["kv_cache_tokens"] is None else f"{row['kv_cache_tokens']:,}",
            "" if row["max_concurrency"] is None else f"{row['max_concurrency']:.1f}",
            judged.reason,
        )
    console().print(table)

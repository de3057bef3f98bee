"""`python -m bench`: print the numbers that the project promises to hold, measured here and now."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench import capacity, policies, preview
from bench.calibration import Result, as_shipped, left_out, median, observed_cases, share_within
from sandbox.errors import SandboxError
from workflow.errors import WorkflowError

RATIO_BAR = 1.5
"""Preview with components and pack against the same resources declared flat (design, section 5)."""
GROWTH_BAR = 1.1
"""Time per resource at ten times the models against once (design, section 5)."""
OVERHEAD_BAR = 0.25
"""Share of the preview that the pack may add."""
CHECK_SECONDS_BAR = 60
CHECK_MEGABYTES_BAR = 500
FIT_RATE_BAR = 2000
"""Cases a second."""
IMPORT_BAR = 0.3
"""Seconds that the import of `lantau` may take."""

app = typer.Typer(add_completion=False, help="Measure what the project promises; without a command, everything.")
Pairs = Annotated[int, typer.Option(help="Measured rounds of previews of each size.", min=1, max=50)]
console = Console()


@app.callback(invoke_without_command=True)
def everything(context: typer.Context, pairs: Pairs = 5) -> None:
    """Measure everything unless a command picks a part."""
    if context.invoked_subcommand is None:
        show_preview(pairs)
        show_policies()
        show_capacity()


@app.command("preview")
def show_preview(pairs: Pairs = 5) -> None:
    """Preview hk-prod with the pack, without it and flat in turn, once and at ten times the models."""
    with tempfile.TemporaryDirectory(prefix="lantau-bench-") as folder:
        found = []
        for models in (1, preview.MANY_MODELS):
            with console.status(f"{pairs} rounds of previews with {models} model(s)"):
                found.append(preview.measure(Path(folder), models, pairs))
    table = Table(
        "models", "resources", "with pack (s)", "without (s)", "flat (s)", "with / flat", "pack adds", box=None
    )
    for one in found:
        table.add_row(
            str(one.models),
            str(one.resources),
            *(f"{one.median(of):.2f}" for of in (_whole, _bare, _flat)),
            f"{one.ratio:.2f}",
            f"{one.overhead:.0%} (CPU {one.median(lambda each: each.work):.0%})",
        )
    console.print(table)
    console.print(f"bars: with / flat ≤ {RATIO_BAR}; the pack adds ≤ {OVERHEAD_BAR:.0%}")
    growth = found[1].per_resource / found[0].per_resource
    console.print(f"time per resource at {preview.MANY_MODELS} times the models: {growth:.2f} (bar ≤ {GROWTH_BAR})")


def _whole(each: preview.Round) -> float:
    return each.whole.wall


def _bare(each: preview.Round) -> float:
    return each.bare.wall


def _flat(each: preview.Round) -> float:
    return each.flat.wall


@app.command("policies")
def show_policies(
    manifests: Annotated[int, typer.Option(help="Manifests to make and judge.", min=100)] = policies.MANIFESTS,
) -> None:
    """Judge ten thousand manifests by `lantau policy-check`."""
    with (
        tempfile.TemporaryDirectory(prefix="lantau-bench-") as folder,
        console.status(f"policy-check over {manifests:,} manifests"),
    ):
        found = policies.measure(Path(folder), manifests)
    table = Table("policy-check", "files", "wall (s)", "CPU (s)", "peak (MB)", "findings", box=None)
    for one in found:
        table.add_row(
            one.what, f"{one.files:,}", f"{one.wall:.1f}", f"{one.cpu:.1f}", f"{one.peak:.0f}", f"{one.findings:,}"
        )
    console.print(table)
    console.print(f"bars: ≤ {CHECK_SECONDS_BAR} s and ≤ {CHECK_MEGABYTES_BAR} MB for {policies.MANIFESTS:,} manifests")


@app.command("capacity")
def show_capacity(
    residuals: Annotated[bool, typer.Option(help="Only the Markdown table of docs/capacity.md.")] = False,
) -> None:
    """Compare the estimator with observed runs, as it is and without what it learnt of each model; then its speed."""
    if residuals:
        for line in capacity.residuals():
            typer.echo(line)
        return
    cases = observed_cases()
    table = Table(f"{len(cases)} observed runs", "as shipped", "each model left out", "bar", box=None)
    for row in zip(*(_accuracy(found) for found in (as_shipped(cases), left_out(cases))), strict=True):
        (what, shipped, bar), (_, without, _) = row
        table.add_row(what, shipped, without, bar)
    console.print(table)
    pace = capacity.measure()
    console.print(f"{pace.cases_per_second:,.0f} cases a second (bar ≥ {FIT_RATE_BAR:,})")
    console.print(f"import of lantau: {pace.import_seconds:.2f} s (bar ≤ {IMPORT_BAR})")


def _accuracy(found: Result) -> list[tuple[str, str, str]]:
    """Rows of what was measured, the figure and its bar."""
    return [
        ("weights, median", f"{median(found.weights):.2%}", "≤ 0.50%"),
        ("weights within 3 %", f"{share_within(found.weights, 0.03):.0%}", "≥ 95%"),
        ("cache tokens, laboratory, median", f"{median(found.laboratory_tokens):.2%}", "≤ 2.00%"),
        ("cache tokens, field, median", f"{median(found.field_tokens):.1%}", "≤ 10.0%"),
        ("false fits", str(len(found.false_fits)), "0"),
        ("false refusals", f"{len(found.false_refusals) / found.judged:.0%}", "≤ 5%"),
        ("marginal", f"{len(found.marginal) / found.judged:.0%}", "≤ 15%"),
        ("unknown", str(len(found.unknown)), ""),
    ]


if __name__ == "__main__":
    try:
        app()
    except (SandboxError, WorkflowError) as error:
        typer.echo(f"\n{error}", err=True)
        sys.exit(1)

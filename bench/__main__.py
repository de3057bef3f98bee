"""`python -m bench`: print the numbers that the project promises to hold, measured here and now."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench import policies, preview
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

app = typer.Typer(add_completion=False, help="Measure what the project promises; without a command, everything.")
Pairs = Annotated[int, typer.Option(help="Measured rounds of previews of each size.", min=1, max=50)]
console = Console()


@app.callback(invoke_without_command=True)
def everything(context: typer.Context, pairs: Pairs = 5) -> None:
    """Measure everything unless a command picks a part."""
    if context.invoked_subcommand is None:
        show_preview(pairs)
        show_policies()


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


if __name__ == "__main__":
    try:
        app()
    except (SandboxError, WorkflowError) as error:
        typer.echo(f"\n{error}", err=True)
        sys.exit(1)

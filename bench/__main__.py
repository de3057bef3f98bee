"""`python -m bench`: print the ratios that the project promises to hold, measured here and now."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.preview import MANY_MODELS, measure
from sandbox.errors import SandboxError
from workflow.errors import WorkflowError

RATIO_BAR = 1.5
"""Preview with components and pack against the same resources declared flat (design, section 5)."""
GROWTH_BAR = 1.1
"""Time per resource at ten times the models against once (design, section 5)."""


def bench(pairs: Annotated[int, typer.Option(help="Measured pairs of each size.", min=1, max=50)] = 5) -> None:
    """Preview hk-prod with the pack and flat in turn, once and at ten times the models."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="lantau-bench-") as folder:
        found = []
        for models in (1, MANY_MODELS):
            with console.status(f"{pairs} pairs of previews with {models} model(s)"):
                found.append(measure(Path(folder), models, pairs))
    table = Table("models", "resources", "with pack (s)", "flat (s)", "ratio", "bar", box=None)
    for one in found:
        whole, flat = sorted(pair.whole for pair in one.pairs), sorted(pair.flat for pair in one.pairs)
        table.add_row(
            str(one.models),
            str(one.resources),
            f"{whole[len(whole) // 2]:.2f}",
            f"{flat[len(flat) // 2]:.2f}",
            f"{one.ratio:.2f}",
            f"≤ {RATIO_BAR}",
        )
    console.print(table)
    growth = found[1].per_resource / found[0].per_resource
    console.print(f"time per resource at {MANY_MODELS} times the models: {growth:.2f} (bar ≤ {GROWTH_BAR})")


if __name__ == "__main__":
    try:
        typer.run(bench)
    except (SandboxError, WorkflowError) as error:
        typer.echo(f"\n{error}", err=True)
        sys.exit(1)

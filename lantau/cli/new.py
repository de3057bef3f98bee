"""`lantau new`: a ready stack for a business at a stage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lantau.cli.options import Root
from lantau.stack.model import ScenarioName, Stage

HELP = (
    "Write a ready stack for a business: Pulumi.<name>.yaml and the releases that it starts with.\n\n"
    "SCENARIO is assistant (internal assistant), images (image generation), knowledge (knowledge-base questions) or "
    "media (video and speech in batches). The files pass `lantau check`; what has to be replaced by your own names and "
    "digests is marked with `replace`. Nothing is ever overwritten; all files are written, or none."
)


def new(
    scenario: Annotated[ScenarioName, typer.Argument(metavar="SCENARIO", help="The business.")],
    stage: Annotated[Stage, typer.Option(help="How far it has come.")] = Stage.TEST,
    name: Annotated[str | None, typer.Option(help="Name of the stack; <scenario>-<stage> when left out.")] = None,
    root: Root = Path(),
) -> None:
    """Write a ready stack; `HELP` tells the rest."""
    from lantau.scenarios import scenarios, write_scenario

    written = write_scenario(root, scenario, stage, name or f"{scenario}-{stage}")
    told = scenarios()[scenario]
    typer.echo(f"{told.title}, stage {stage}. {told.stages[stage].why}")
    for path in written.files:
        typer.echo(f"  written  {path}")
    for path in written.kept:
        typer.echo(f"  kept     {path} (the same already)")
    typer.echo(
        "next:\n"
        f"  1. replace what is marked with `replace`: grep -n replace: Pulumi.{written.stack}.yaml releases -r\n"
        f"  2. lantau check {written.stack}\n"
        f"  3. make preview STACK={written.stack}   # on a stand-in with these nodes while there is no cluster\n"
        f"  4. lantau advise --stack {written.stack} --users 200   # what the next stage needs"
    )

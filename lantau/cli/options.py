"""What several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

Root = Annotated[
    Path,
    typer.Option("--root", help="Folder of the project, where Pulumi.yaml lies.", exists=True, file_okay=False),
]


def refuse(message: str) -> NoReturn:
    """End the command: the input cannot be used."""
    typer.echo(f"lantau: {message}", err=True)
    raise typer.Exit(2)

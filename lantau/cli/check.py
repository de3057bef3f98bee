"""`lantau check`: stacks with the releases they point to, without an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lantau.cli.options import Root, refuse
from lantau.problems import InvalidInput, harmless


def check(
    stacks: Annotated[
        list[str] | None, typer.Argument(help="Stacks to check; all that have a file when left out.")
    ] = None,
    root: Root = Path(),
) -> None:
    """Check stacks with the releases they point to. Exit 0 when all are right, 2 when something is wrong."""
    from lantau.platform import load_platform

    names = stacks or sorted(
        path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in root.glob("Pulumi.*.yaml")
    )
    if not names:
        refuse(f"there is no Pulumi.<stack>.yaml in {root.resolve()}")
    failed = False
    for name in names:
        try:
            platform = load_platform(root, name)
        except InvalidInput as error:
            failed = True
            count = len(error.problems)
            title = name if name and harmless(name) else "this stack"
            typer.echo(
                f"{title}: {count} {'problem' if count == 1 else 'problems'}",
                err=True,
            )
            for problem in error.problems:
                typer.echo("  " + problem.render().replace("\n", "\n  "), err=True)
        else:
            typer.echo(f"{name}: right ({len(platform.releases)} releases, fingerprint {platform.fingerprint})")
            for warning in platform.warnings:
                typer.echo("  warning: " + warning.render().replace("\n", "\n  "), err=True)
    if failed:
        raise typer.Exit(2)

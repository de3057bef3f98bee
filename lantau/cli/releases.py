"""`lantau releases`: what can be deployed, and what is."""

from __future__ import annotations

from pathlib import Path

import typer

from lantau.cli.options import Root
from lantau.problems import InvalidInput


def releases(root: Root = Path()) -> None:
    """List the releases of every model with their content digest and the stacks that point to them."""
    from rich.console import Console
    from rich.table import Table

    from lantau.platform import load_platform
    from lantau.release import read_release, releases_of

    used: dict[tuple[str, str], list[str]] = {}
    for path in sorted(root.glob("Pulumi.*.yaml")):
        stack = path.name.removeprefix("Pulumi.").removesuffix(".yaml")
        try:
            platform = load_platform(root, stack)
        except InvalidInput as error:
            typer.echo(f"{stack} is left out, it has problems: lantau check {stack} ({len(error.problems)})", err=True)
            continue
        for name, model in platform.stack.models.items():
            roles = {model.stable: "stable", model.previous: "previous"}
            for release, _ in model.replicas_by_release():
                used.setdefault((name, release), []).append(f"{stack} ({roles.get(release, 'canary')})")
    table = Table("model", "release", "digest", "engine", "used by", box=None)
    for folder in sorted(path for path in (root / "releases").glob("*") if path.is_dir()):
        for name in releases_of(root, folder.name):
            content = read_release(root, folder.name, name)
            stacks = ", ".join(used.get((folder.name, name), ["-"]))
            engine = f"{content.engine.kind} {content.engine.version}"
            table.add_row(folder.name, name, content.digest[:12], engine, stacks)
    Console().print(table)

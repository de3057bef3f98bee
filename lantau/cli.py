"""The command line: `lantau` after installation, `python -m lantau` always."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from lantau.problems import InvalidInput, harmless

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Judge and explain the stacks and releases of an inference platform, without touching any cluster.",
)

Root = Annotated[
    Path,
    typer.Option("--root", help="Folder of the project, where Pulumi.yaml lies.", exists=True, file_okay=False),
]

POLICY_CHECK_HELP = (
    "Judge manifests by the policy pack, without an engine or a cluster.\n\n"
    "PATH is a YAML or JSON file, a folder (every .yaml, .yml and .json below it), or - for stdin. "
    "What kubectl get -o yaml, helm template and pulumi stack export print can be judged as it is. "
    "Documents of one file are judged together, files each on its own.\n\n"
    "Exit code: 0 no mandatory finding; 1 a mandatory finding; 2 bad input, while whatever could be read is judged.\n\n"
    "With --json each finding is one line with the keys file, document (place in the file, from 1; "
    "in an exported stack the place of the resource), kind and name (of the object), policy, control, "
    "level (mandatory or advisory), severity, message, and path (of the field, from the top of the document, "
    "such as spec.template.spec.containers[0].env[1].value).\n\n"
    "FILE holds what pulumi --policy-pack-config takes: levels by policy; settings and exceptions under pack-settings."
)


@app.command()
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
    if failed:
        raise typer.Exit(2)


@app.command()
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


@app.command("policy-check", help=POLICY_CHECK_HELP)
def policy_check(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Manifests, folders, stack exports, or - for standard input.")
    ],
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Levels, settings and exceptions, JSON or YAML.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a finding, one finding a line.")] = False,
) -> None:
    """Judge manifests by the policy pack; `POLICY_CHECK_HELP` tells the rest."""
    # The pack and its SDK take longer to load than the other commands to run.
    from policies.check import run

    raise typer.Exit(run(paths, config, as_json=as_json))


def refuse(message: str) -> NoReturn:
    """End the command: the input cannot be used."""
    typer.echo(f"lantau: {message}", err=True)
    raise typer.Exit(2)


def main() -> None:
    """Run the command line; bad input ends with its problems and exit code 2, never with a traceback."""
    try:
        app()
    except InvalidInput as error:
        typer.echo(str(error), err=True)
        sys.exit(2)

"""`python -m sandbox`: bring the sandbox up, look at it, take it down."""

import datetime as dt
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sandbox.cluster import FOREIGN_VARIABLES, Sandbox, Status
from sandbox.cluster.crds import DEFAULT_FAMILIES
from sandbox.cluster.ports import DEFAULT_NAME
from sandbox.engine import build_engine, build_tools, find_engine
from sandbox.errors import SandboxError

app = typer.Typer(
    help="A Kubernetes control plane with fake GPU nodes and a stand-in for AWS, on this machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

Name = Annotated[str, typer.Option("--name", help="Which sandbox: several can run side by side.")]


@app.command()
def up(
    name: Name = DEFAULT_NAME,
    base_port: Annotated[int | None, typer.Option(help="First of ten ports in a row on loopback.")] = None,
    audit_policy: Annotated[Path | None, typer.Option(help="Audit policy file instead of Lantau's own.")] = None,
    family: Annotated[list[str] | None, typer.Option(help="A further family of custom resource definitions.")] = None,
) -> None:
    """Start what does not run yet; everything that was there before is found again."""
    with _said_plainly("up", name):
        sandbox = Sandbox(name)
        families = tuple(dict.fromkeys((*DEFAULT_FAMILIES, *(family or ()))))
        # Building shows a progress of its own, so it must be over before the spinner starts.
        sandbox.obtain(families)
        with err.status("") as spinner:
            sandbox.up(audit_policy=audit_policy, families=families, base_port=base_port, progress=spinner.update)
        out.print(f"sandbox {name} is up; kubectl --kubeconfig {sandbox.kubeconfig()} --context {sandbox.context}")


@app.command()
def down(
    name: Name = DEFAULT_NAME,
    delete: Annotated[bool, typer.Option("--delete", help="Remove its data too: cluster, keys, Pulumi state.")] = False,
) -> None:
    """End every process of the sandbox; its data stays for the next `up` unless --delete is given."""
    with _said_plainly("down", name):
        sandbox = Sandbox(name)
        if delete:
            sandbox.delete()
            out.print(f"sandbox {name} is down and its data is removed")
        else:
            ended = sandbox.down()
            out.print(f"sandbox {name} is down" + (f" ({len(ended)} processes ended)" if ended else " (nothing ran)"))


@app.command()
def status(name: Name = DEFAULT_NAME) -> None:
    """Show processes, nodes, versions and installed kinds; exit code 3 when not everything runs."""
    with _said_plainly("status", name):
        state = Sandbox(name).status()
        out.print(_processes(state))
        if state.nodes:
            out.print(_nodes(state))
            out.print(", ".join(f"{what} {version}" for what, version in state.versions.items()))
            out.print(f"custom resource definitions: {', '.join(state.families) or 'none'}")
        out.print(f"kubeconfig {state.kubeconfig} (context {state.context})")
        if not state.running:
            raise typer.Exit(3)


@app.command()
def build() -> None:
    """Build the engine and the control plane, or find them built."""
    with _said_plainly("build", DEFAULT_NAME):
        build_engine()
        out.print(str(build_tools()))


@app.command()
def kubeconfig(
    name: Name = DEFAULT_NAME,
    context: Annotated[
        str | None, typer.Option(help="Write another kubeconfig whose one context bears this name.")
    ] = None,
) -> None:
    """Print the path of the administrator's kubeconfig."""
    with _said_plainly("kubeconfig", name):
        sys.stdout.write(f"{Sandbox(name).kubeconfig(context)}\n")


@app.command()
def env(name: Name = DEFAULT_NAME) -> None:
    """Print the environment for `pulumi` and `kubectl`, for: eval "$(python -m sandbox env)"."""
    with _said_plainly("env", name):
        variables = Sandbox(name).env()
        engine = find_engine()
        if engine is not None:
            variables |= engine.environment({})
        # kubectl lies beside this Python.
        folders = [variables.pop("PATH", ""), str(Path(sys.executable).parent)]
        sys.stdout.write(f"unset {' '.join(FOREIGN_VARIABLES)}\n")
        for key, value in variables.items():
            sys.stdout.write(f"export {key}={shlex.quote(value)}\n")
        sys.stdout.write(f'export PATH={shlex.quote(os.pathsep.join(filter(None, folders)))}:"$PATH"\n')


@contextmanager
def _said_plainly(command: str, name: str) -> Iterator[None]:
    """Errors meant for the user become a message and exit code 1; Ctrl-C becomes a word on how to go on."""
    try:
        yield
    except SandboxError as error:
        err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        err.print(f"stopped; to go on: python -m sandbox {command} --name {name}", markup=False)
        raise typer.Exit(130) from None
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        err.print(f"error: {error.strerror or error}{place}", style="red", markup=False)
        raise typer.Exit(1) from None


def _processes(state: Status) -> Table:
    table = Table(title=f"sandbox {state.name}", title_justify="left")
    for column in ("process", "pid", "MiB", "port", "since"):
        table.add_column(column, justify="left" if column in ("process", "since") else "right")
    for process in state.processes:
        if process.pid is None or process.since is None:
            table.add_row(process.name, "-", "-", _text(process.port), "not running", style="red")
            continue
        since = dt.datetime.fromtimestamp(process.since).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(process.name, str(process.pid), str(process.rss >> 20), _text(process.port), since)
    table.add_row("together", "", str(state.rss >> 20), "", "", style="bold")
    return table


def _nodes(state: Status) -> Table:
    table = Table()
    for column in ("node", "state", "pods", "GPUs", "product"):
        table.add_column(column, justify="right" if column in ("pods", "GPUs") else "left")
    for node in state.nodes:
        ready = "Ready" if node.ready else "NotReady"
        table.add_row(node.name, ready, str(node.pods), str(node.gpus or "-"), node.product)
    return table


def _text(port: int | None) -> str:
    return "-" if port is None else str(port)


def main() -> None:
    """Run the command line."""
    app()

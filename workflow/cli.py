"""The commands behind `make`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from lantau.platform import load_platform
from lantau.problems import InvalidInput
from sandbox.cluster import without_proxy
from sandbox.errors import SandboxError
from workflow.cluster import read_cluster
from workflow.errors import WorkflowError
from workflow.summary import show
from workflow.target import SANDBOX_STACK, Kind, end_sandboxes, engine, hints_for, kubeconfig_of, target

PROJECT = Path(__file__).parent.parent

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
Stack = Annotated[str, typer.Option("--stack", help="Stack to work on; `sandbox` is a whole cluster on this machine.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before changing a cluster of one's own.")]


@app.command()
def up(stack: Stack = SANDBOX_STACK, yes: Yes = False) -> None:
    """Deploy a stack, then say what runs."""
    platform = load_platform(PROJECT, stack)
    with target(PROJECT, platform) as at:
        at.pulumi.prepare()
        ours = at.kind is not Kind.OWN
        # A run that was killed leaves the state behind the cluster, so the two are compared first.
        outcome = at.pulumi.up(yes=yes or ours, refresh=ours)
        show(platform, read_cluster(platform, at.kubeconfig), outcome, at.hints)


@app.command()
def preview(stack: Stack = SANDBOX_STACK) -> None:
    """Say what `up` would change, and what the policies think of it."""
    platform = load_platform(PROJECT, stack)
    with target(PROJECT, platform, preview_only=True) as at:
        at.pulumi.prepare()
        at.pulumi.preview()


@app.command()
def status(stack: Stack = SANDBOX_STACK) -> None:
    """Say what runs, by tier."""
    platform = load_platform(PROJECT, stack)
    view = read_cluster(platform, kubeconfig_of(platform))
    if not view.deployed:
        raise WorkflowError(f"nothing of stack {stack} is deployed. Deploy it with: make up STACK={stack}")
    show(platform, view, None, hints_for(platform))


@app.command()
def destroy(stack: Stack = SANDBOX_STACK, yes: Yes = False) -> None:
    """Remove what a stack deployed. Managed keys stay recoverable for their recovery window."""
    platform = load_platform(PROJECT, stack)
    with target(PROJECT, platform) as at:
        at.pulumi.prepare()
        at.pulumi.destroy(yes=yes or at.kind is not Kind.OWN)


@app.command()
def down() -> None:
    """End every process of the sandbox; its data stays."""
    ended = end_sandboxes()
    typer.echo(f"ended: {', '.join(ended)}" if ended else "nothing of the sandbox was running", err=True)


@app.command(name="engine")
def build() -> None:
    """Find the engine or build it, and build the sandbox's control plane."""
    from sandbox.engine import build_tools

    found = engine()
    build_tools()
    typer.echo(f"engine: {found.pulumi}", err=True)


def main() -> None:
    """Run a command; what a person can mend ends with one clear text and exit code 1 or 2."""
    # A proxy of the user's is for the world outside, never for what runs on this machine.
    os.environ.update(without_proxy(os.environ))
    try:
        app()
    except InvalidInput as error:
        typer.echo(str(error), err=True)
        sys.exit(2)
    except (WorkflowError, SandboxError) as error:
        typer.echo(f"\n{error}", err=True)
        sys.exit(1)
    except OSError as error:
        typer.echo(f"\n{error.filename or 'a file'}: {error.strerror or error}", err=True)
        sys.exit(1)

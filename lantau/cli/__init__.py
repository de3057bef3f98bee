"""The command line: `lantau` after installation, `python -m lantau` always; one module a command."""

from __future__ import annotations

import sys

import typer

from lantau.cli import advise, check, diagnose, fit, new, policy_check, releases, rollout, rules
from lantau.problems import InvalidInput

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Judge and explain the stacks and releases of an inference platform, without touching any cluster.",
)
app.command(help=advise.HELP)(advise.advise)
app.command(help=new.HELP)(new.new)
app.command()(check.check)
app.command(help=fit.HELP)(fit.fit)
app.command(help=diagnose.HELP)(diagnose.diagnose)
app.command()(releases.releases)
app.command()(rules.rules)
app.command()(rollout.rollout)
app.command("policy-check", help=policy_check.HELP)(policy_check.policy_check)


def main() -> None:
    """Run the command line; bad input ends with its problems and exit code 2, never with a traceback."""
    try:
        app()
    except InvalidInput as error:
        typer.echo(str(error), err=True)
        sys.exit(2)

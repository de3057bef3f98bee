"""`lantau rules`: what each stage demands."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lantau.problems import InvalidInput, Problem, nearest, shown


def rules(
    rule: Annotated[str | None, typer.Argument(metavar="RULE-ID", help="One rule; all when left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a rule, one rule a line.")] = False,
) -> None:
    """List what each stage demands of a stack: id, stages, demand and reason."""
    from lantau.stack.stages import every_rule

    known = every_rule()
    if rule is not None and rule not in known:
        raise InvalidInput([Problem("", f"there is no rule {shown(rule)}. {nearest(rule, list(known))}")])
    for found in known.values() if rule is None else [known[rule]]:
        stages = [stage for stage in ("test", "gray", "production", "growth") if stage in found.stages]
        if as_json:
            content = {"id": found.id, "stages": stages, "requirement": found.requirement}
            typer.echo(json.dumps(content | {"demand": found.demand, "reason": found.reason}))
        else:
            typer.echo(f"{found.id} ({', '.join(stages)})\n  {found.demand}\n  {found.reason}")

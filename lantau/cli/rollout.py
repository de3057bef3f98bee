"""`lantau rollout`: where a stack stands in the weeks of going live."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from lantau.cli.options import Root, refuse


def rollout(
    stack: Annotated[str, typer.Argument(help="Name of the stack.")],
    root: Root = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show the weeks of going live: who is let in with how much, and what must hold before the next step."""
    from rich.padding import Padding
    from rich.table import Table

    from lantau.report.console import console
    from lantau.stack import load_stack
    from lantau.stack.plan import PLAN, earliest_next, following, let_in

    found = load_stack(root, stack)
    now = found.rollout
    if now is None:
        refuse(
            f"stack {stack} has no roll-out: every client is let in. Write "
            'rollout: {step: team, since: "<today>", audiences: {team: [<client>]}} to open it week by week'
        )
    week, after = PLAN[now.step], following(now.step)
    clients = [{"client": client, "audience": audience, "rate": rate} for client, audience, rate in let_in(found)]
    if as_json:
        content = {
            "step": now.step.value,
            "since": now.since.isoformat(),
            "clients": clients,
            "holds_before_next": list(week.holds),
            "next": after.value if after else None,
            "next_from": earliest_next(now).isoformat() if after else None,
        }
        typer.echo(json.dumps(content, ensure_ascii=False))
        return
    out = console()
    for each in PLAN.values():
        here = "->" if each.step is now.step else "  "
        out.print(f"{here} {each.step.value:9} {each.week:17} {each.audience}", soft_wrap=True)
    table = Table("client", "audience", "requests/s", box=None)
    for client, audience, rate in let_in(found):
        table.add_row(client, audience, str(rate) if rate else "not let in yet")
    out.print()
    out.print(Padding(table, (0, 0, 0, 1)))
    days = (datetime.now(UTC).date() - now.since).days
    out.print(f"\nat step {now.step.value} since {now.since}, {days} days", soft_wrap=True)
    for demand in week.holds:
        out.print(f"  must hold: {demand}", soft_wrap=True)
    if after is not None:
        out.print(
            f'  next: rollout: {{step: {after.value}, since: "<the day>"}}, from {earliest_next(now)} on',
            soft_wrap=True,
        )

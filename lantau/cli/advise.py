"""`lantau advise`: which machines, at which stage, and why."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lantau.cli.options import Root, refuse
from lantau.stack.model import ScenarioName, Stage

if TYPE_CHECKING:
    from lantau.scenarios.advice import StageAdvice

HELP = (
    "Tell the way of a business from its test machine to growth: machines, replicas, power, and what must hold before "
    "the next stage.\n\n"
    "Sizes follow from the users by stated assumptions (how many are at work at the peak, how often they ask, how long "
    "prompts and answers are) and from estimates that come as ranges: they order a first purchase and do not replace "
    "a load test. `lantau new` writes each stage as a ready stack."
)


def advise(
    scenario: Annotated[
        ScenarioName | None, typer.Option(help="The business: assistant, images, knowledge or media.")
    ] = None,
    stack: Annotated[str | None, typer.Option(help="Take scenario and stage of this stack.")] = None,
    users: Annotated[
        int, typer.Option(help="People who use it, once everyone is let in.", min=1, max=10_000_000)
    ] = 200,
    model: Annotated[str | None, typer.Option(help="Another model for the main work, as published.")] = None,
    stage: Annotated[Stage | None, typer.Option(help="One stage only.")] = None,
    price_card_hour: Annotated[float | None, typer.Option(help="Price of one card for an hour.", min=0)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a stage.")] = False,
    root: Root = Path(),
) -> None:
    """Tell the way of a business; `HELP` tells the rest."""
    from lantau.capacity.sizing import Prices
    from lantau.scenarios.advice import UNKNOWNS, way

    if (scenario is None) == (stack is None):
        refuse("name one of both: lantau advise --scenario assistant --users 200, or lantau advise --stack STACK")
    now: Stage | None = None
    if stack is not None:
        from lantau.stack import load_stack

        found = load_stack(root, stack)
        if found.scenario is None:
            refuse(f"stack {stack} names no scenario. Write scenario: assistant (or images, knowledge, media) into it")
        scenario, now = found.scenario, found.stage
    if scenario is None:
        return
    prices = Prices(price_card_hour) if price_card_hour is not None else None
    try:
        stages = list(way(scenario, users, published=model, prices=prices))
    except UNKNOWNS as error:
        refuse(str(error.args[0]))
    shown = [each for each in stages if stage is None or each.stage is stage]
    if as_json:
        for each in shown:
            typer.echo(json.dumps(_content(each), ensure_ascii=False))
        return
    _print(scenario, users, shown, now)


def _content(advice: StageAdvice) -> dict[str, Any]:
    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: rounded(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [rounded(each) for each in value]
        return round(value, 3) if isinstance(value, float) else value

    content: dict[str, Any] = rounded(asdict(advice))
    return content


def _print(scenario: ScenarioName, users: int, shown: list[StageAdvice], now: Stage | None) -> None:
    from rich.padding import Padding
    from rich.table import Table

    from lantau.report.console import console
    from lantau.scenarios import scenarios

    out = console()
    told = scenarios()[scenario]
    load = told.load
    out.print(f"[bold]{told.title}[/] for {users:,} users. {told.about}", soft_wrap=True)
    out.print(
        f"assumed: {load.share_at_peak:.0%} of them at work at the peak, a request every {load.seconds_between:g} s "
        f"each: {load.requests_per_second(users):.2g} requests/s"
        + (f" of {load.input_tokens:,} + {load.output_tokens:,} tokens" if load.output_tokens > 1 else ""),
        soft_wrap=True,
    )
    line = told.network
    out.print(
        f"line: {line.route.value} with {line.bandwidth_mbps} Mbit/s for users in {line.audience.value}", soft_wrap=True
    )
    for advice in shown:
        here = "  <- the stack is here" if advice.stage is now else ""
        out.print(f"\n[bold]{advice.stage.value}[/]{here}: {advice.goal}", soft_wrap=True)
        out.print(f"  {advice.why}", soft_wrap=True)
        table = Table("pool", "machines", "cards", "for", box=None)
        for pool in advice.pools:
            table.add_row(pool.pool, f"{pool.nodes} × {pool.machine}", str(pool.cards or ""), pool.role.value)
        out.print(Padding(table, (0, 0, 0, 1)))
        for model in advice.models:
            out.print(
                f"  {model.model}: {model.published} {model.verdict.value} on {model.card}; {model.replicas} "
                f"{'replica' if model.replicas == 1 else 'replicas'}. {model.reason}",
                soft_wrap=True,
            )
            size = model.size
            if size is not None:
                out.print(
                    f"    the load needs {size.needed} and a spare one ({size.fleet.low:.0f} to {size.fleet.high:.0f} "
                    f"by a load test); {size.binding} decides"
                    + (
                        f"; a million tokens cost {size.per_million_tokens.low:.2f}–{size.per_million_tokens.high:.2f}"
                        if size.per_million_tokens
                        else ""
                    ),
                    soft_wrap=True,
                )
        out.print(f"  power at the limit of all machines: {advice.watts / 1000:.1f} kW", soft_wrap=True)
        for demand in advice.before_next:
            out.print(f"  before the next stage: {demand}", soft_wrap=True)

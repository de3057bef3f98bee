"""One model on one kind of card, or on every card of the catalogue."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn

import typer
from rich.table import Table

from lantau.capacity.alternatives import WIDEST_TENSOR, alternatives
from lantau.capacity.cases import UNKNOWNS, Case, Question, answer, question
from lantau.capacity.fit import Binding, Fit, Verdict
from lantau.capacity.service import TYPICAL_CONTEXT, UnservableError, device_of, sized, speeds
from lantau.capacity.sizing import Load, Prices, Size
from lantau.capacity.throughput import Range, Speed
from lantau.catalog.architectures import architecture_from_file
from lantau.catalog.cards import cards
from lantau.cli.options import refuse
from lantau.problems import InvalidInput, Problem
from lantau.report.console import console
from lantau.report.memory import Judged, bar, legend

EXIT: Final = {Verdict.FITS: 0, Verdict.MARGINAL: 0, Verdict.DOES_NOT_FIT: 1, Verdict.UNKNOWN: 2}
ASSUMED: Final = (
    "Rates are ranges over engines and kernels, not promises: measure before you buy. Replicas are planned with "
    "85 % of the cache and 70 % of the decode rate, and one is spare."
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question with everything around it."""

    case: Case
    config: Path | None
    index: Path | None
    load: Load | None
    prices: Prices | None

    def on(self, card: str | None, tensor: int | None = None) -> Question:
        """The question on a card; raises one of UNKNOWNS."""
        case = self.case.model_copy(update={"gpu": card, "tp": tensor or self.case.tp})
        model = architecture_from_file(self.config, self.index) if self.config else None
        return question(case, model)


def fit_model(wanted: Wanted, *, as_json: bool, chart: Path | None) -> None:
    """Print the answer and end with its exit code."""
    if wanted.index is not None and wanted.config is None:
        refuse("--index goes with --config: write lantau fit --config config.json --index model.safetensors.index.json")
    if wanted.case.gpu is None:
        if wanted.load is not None:
            refuse("a load is sized on one kind of card: add --card CARD")
        _every_card(wanted, as_json=as_json, chart=chart)
        return
    try:
        asked = wanted.on(wanted.case.gpu)
        found = asked.answer()
    except UNKNOWNS as error:
        _unknown(wanted, str(error.args[0]), as_json=as_json)
    if as_json:
        typer.echo(json.dumps(_content(wanted, asked, found), ensure_ascii=False))
    else:
        _print(wanted, asked, found)
    if chart is not None:
        from lantau.report.chart import write_chart

        write_chart(chart, [Judged(_title(wanted.case, asked), found)])
    raise typer.Exit(EXIT[found.verdict])


def _unknown(wanted: Wanted, reason: str, *, as_json: bool) -> NoReturn:
    if as_json:
        typer.echo(json.dumps(answer(wanted.case, Fit(Verdict.UNKNOWN, reason)), ensure_ascii=False))
        raise typer.Exit(EXIT[Verdict.UNKNOWN])
    raise InvalidInput([Problem("", f"unknown: {reason}")])


def _title(case: Case, asked: Question) -> str:
    count = asked.flags.tensor_parallel * asked.flags.pipeline_parallel
    version = case.engine_version or "of unknown version"
    form = f", {asked.format_name}" if asked.format_name else ""
    return f"{case.model} on {count} × {asked.card.name}, {asked.engine.kind} {version}{form}"


def _print(wanted: Wanted, asked: Question, found: Fit) -> None:
    out = console()
    colour = {Verdict.FITS: "green", Verdict.MARGINAL: "yellow"}.get(found.verdict, "red")
    out.print(f"[bold {colour}]{found.verdict.value}[/]: {_title(wanted.case, asked)}", soft_wrap=True)
    out.print(found.reason, soft_wrap=True)
    rank = found.rank
    if rank is not None:
        cached = found.pool is not None
        out.print(bar(rank, cached=cached))
        out.print(legend(rank, cached=cached), soft_wrap=True)
    if found.binding is Binding.RULE:
        # What breaks a rule does not start, whatever room there would be.
        return
    if found.tokens_high:
        out.print(
            f"cache: {found.tokens or 0:,} tokens ({found.tokens_low or 0:,} to {found.tokens_high or 0:,}), "
            f"{found.concurrency or 0:.1f} requests of {found.max_model_len:,} at once",
            soft_wrap=True,
        )
        if found.longest is not None and found.verdict is not Verdict.FITS:
            out.print(f"longest context that would fit once: {found.longest:,} tokens", soft_wrap=True)
    if found.verdict in (Verdict.DOES_NOT_FIT, Verdict.MARGINAL):
        offered = alternatives(asked.model, asked.card, asked.engine, asked.flags, format_name=asked.format_name)
        if offered:
            out.print("it fits with one of:", soft_wrap=True)
        else:
            out.print("no single change is enough: a larger card, a smaller model, or more cards for each replica")
        for one in offered:
            out.print(f"  {one.what}   ({one.field}: {one.value})", soft_wrap=True)
        if found.verdict is Verdict.DOES_NOT_FIT:
            return
    device = device_of(asked)
    if device is None:
        out.print("how fast it is there cannot be told: the catalogue has no such card")
        return
    if not asked.model.generates:
        return
    context = _typical(asked)
    table = Table(f"requests of {context:,} tokens", "tokens/s each", "tokens/s in all", "waits for", box=None)
    for speed in speeds(asked, device, context):
        table.add_row(str(speed.batch), _range(speed.per_request), _range(speed.decode), speed.limit)
    if table.row_count:
        out.print(table)
    if wanted.load is not None:
        _print_size(wanted.load, asked, *_sized(wanted, asked))


def _print_size(load: Load, asked: Question, size: Size, at: Speed) -> None:
    out = console()
    count = size.replicas * asked.flags.tensor_parallel * asked.flags.pipeline_parallel
    out.print(
        f"[bold]{size.replicas} replicas[/] ({size.needed} and a spare one; {count} cards) for "
        f"{load.requests_per_second:g} requests/s of {load.input_tokens:,} + {load.output_tokens:,} tokens: "
        f"{size.binding} decides, and a load test may find {size.fleet.low:.0f} to {size.fleet.high:.0f}",
        soft_wrap=True,
    )
    out.print(
        f"under way at the peak: {_range(size.concurrency)} requests; "
        f"a replica writes {_range(at.decode)} tokens/s and reads {_range(at.prefill)}",
        soft_wrap=True,
    )
    out.print(f"power of the cards, without their machines: {_range(size.watts.times(1e-3), 2)} kW", soft_wrap=True)
    if size.per_million_tokens is not None:
        out.print(f"price of a million tokens at the peak: {_range(size.per_million_tokens, 2)}", soft_wrap=True)
    out.print(f"[dim]{ASSUMED}[/]", soft_wrap=True)


def _sized(wanted: Wanted, asked: Question) -> tuple[Size, Speed]:
    device = device_of(asked)
    if device is None or wanted.load is None:
        refuse("a load is sized on a card of the catalogue")
    try:
        return sized(asked, device, wanted.load, prices=wanted.prices)
    except UnservableError as error:
        refuse(str(error))


def _typical(asked: Question) -> int:
    return min(TYPICAL_CONTEXT, asked.flags.max_model_len or asked.model.max_positions or TYPICAL_CONTEXT)


def _range(values: Range, digits: int = 0) -> str:
    """`low–high` with thousands separated, small figures to two digits that count."""

    def one(value: float) -> str:
        return f"{value:,.{digits}f}" if digits or value >= 10 else f"{value:.2g}"

    return f"{one(values.low)}–{one(values.high)}, likely {one(values.likely)}"


def _content(wanted: Wanted, asked: Question, found: Fit) -> dict[str, Any]:
    content = answer(wanted.case, found) | {
        "binding": found.binding.value,
        "kv_cache_tokens_low": found.tokens_low,
        "kv_cache_tokens_high": found.tokens_high,
        "longest_context": found.longest,
        "card_gib": asked.card.gib,
    }
    if found.rank is not None:
        rank = asdict(found.rank)
        content["memory_gib"] = {name: round(rank[name], 3) for name in ("activation", "outside", "graphs", "budget")}
    if found.verdict in (Verdict.DOES_NOT_FIT, Verdict.MARGINAL):
        offered = alternatives(asked.model, asked.card, asked.engine, asked.flags, format_name=asked.format_name)
        content["fits_with"] = [{"field": one.field, "value": one.value} for one in offered]
    device = device_of(asked)
    if device is not None and asked.model.generates and found.verdict is not Verdict.DOES_NOT_FIT:
        content["speed"] = [_speed(one) for one in speeds(asked, device, _typical(asked))]
    if wanted.load is not None and found.verdict is not Verdict.DOES_NOT_FIT:
        size, at = _sized(wanted, asked)
        content["size"] = _rounded(asdict(size)) | {"speed": _speed(at)}
    return content


def _speed(speed: Speed) -> dict[str, Any]:
    return _rounded(asdict(speed))


def _rounded(content: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _rounded(value) if isinstance(value, dict) else round(value, 3) if isinstance(value, float) else value
        for key, value in content.items()
    }


def _every_card(wanted: Wanted, *, as_json: bool, chart: Path | None) -> None:
    """Every card of the catalogue with the fewest cards on which the model fits."""
    rows: list[tuple[str, int, Fit]] = []
    for key in cards():
        try:
            rows.append((key, *_fewest(wanted, key)))
        except UNKNOWNS as error:
            _unknown(wanted, str(error.args[0]), as_json=as_json)
    if as_json:
        for key, tensor, found in rows:
            line = answer(wanted.case, found) | {"card": key, "tensor_parallel_size": tensor}
            typer.echo(json.dumps(line, ensure_ascii=False))
    else:
        table = Table("card", "GiB", "cards", "verdict", "cache tokens", "requests", "reason", box=None)
        for key, tensor, found in rows:
            table.add_row(
                key,
                f"{cards()[key].memory_gib:.1f}",
                str(tensor),
                found.verdict.value,
                "" if found.tokens is None else f"{found.tokens:,}",
                "" if found.concurrency is None else f"{found.concurrency:.1f}",
                "" if found.verdict is Verdict.FITS else found.reason,
            )
        console().print(table)
    if chart is not None:
        from lantau.report.chart import write_chart

        write_chart(chart, [Judged(f"{wanted.case.model} on {tensor} × {key}", found) for key, tensor, found in rows])
    if not any(found.verdict in (Verdict.FITS, Verdict.MARGINAL) for _, _, found in rows):
        raise typer.Exit(EXIT[Verdict.DOES_NOT_FIT])


def _fewest(wanted: Wanted, key: str) -> tuple[int, Fit]:
    """The smallest tensor parallelism from the one asked for on which the model fits, otherwise what was asked for."""
    asked = wanted.on(key)
    first = asked.answer()
    tensor, found = wanted.case.tp, first
    while found.verdict is not Verdict.FITS and tensor * 2 <= WIDEST_TENSOR:
        tensor *= 2
        found = replace(asked, flags=replace(asked.flags, tensor_parallel=tensor)).answer()
    return (tensor, found) if found.verdict is Verdict.FITS else (wanted.case.tp, first)

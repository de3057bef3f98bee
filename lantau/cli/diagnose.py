"""`lantau diagnose`: what is short, from the platform's own metrics."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lantau.cli.options import refuse

if TYPE_CHECKING:
    from lantau.diagnose.findings import Diagnosis
    from lantau.diagnose.snapshot import Snapshot

HELP = (
    "Tell what is short before anything is bought: memory, arithmetic, what lies before the engine, or the line.\n\n"
    "Figures come from a Prometheus, or from a snapshot that --save wrote. Every finding names the figures that it "
    "rests on and what to do, the cheapest first; what has no figures is named and not guessed.\n\n"
    "Exit code: 0 nothing is short, 1 something is, 2 bad input, or no figures at all."
)


def diagnose(
    prometheus: Annotated[
        str | None, typer.Option(metavar="URL", help="Prometheus, or what speaks its HTTP API.")
    ] = None,
    snapshot: Annotated[Path | None, typer.Option(metavar="FILE", help="Figures that --save wrote.")] = None,
    window: Annotated[str, typer.Option(help="Time that is looked at: 15m, 6h, 1d.")] = "15m",
    at: Annotated[
        datetime | None,
        typer.Option(
            help="End of that time with its zone, such as 2026-12-05T21:30:00+0800; now when left out.",
            formats=["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M%z"],
        ),
    ] = None,
    token_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Bearer token for the Prometheus.")] = None,
    first_token: Annotated[
        float, typer.Option(help="Wait for the first token that your users accept, seconds.", min=0.05)
    ] = 2.0,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the figures for later.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Tell what is short; `HELP` tells the rest."""
    import re

    from lantau.diagnose.findings import diagnose as judge
    from lantau.diagnose.snapshot import WINDOW, load_snapshot, save_snapshot

    if (prometheus is None) == (snapshot is None):
        refuse("name one source: lantau diagnose --prometheus URL, or lantau diagnose --snapshot FILE")
    if snapshot is not None and (at or token_file or save):
        refuse("--at, --token-file and --save go with --prometheus; a snapshot is of its own time")
    if not re.fullmatch(WINDOW, window):
        refuse("--window must be a number with m, h or d, such as 15m, 6h or 1d")
    found = load_snapshot(snapshot) if snapshot else _ask(prometheus or "", window, at, token_file)
    if save is not None:
        save_snapshot(save, found)
    if not found.values:
        refuse(f"there are no figures of the last {found.window}: is this the Prometheus that scrapes the platform?")
    result = judge(found, first_token=first_token)
    if as_json:
        typer.echo(json.dumps(_content(found, result), ensure_ascii=False))
    else:
        _print(found, result)
    if result.findings:
        raise typer.Exit(1)


def _ask(url: str, window: str, at: datetime | None, token_file: Path | None) -> Snapshot:
    from rich.console import Console

    from lantau.diagnose.prometheus import take_snapshot

    token = None
    if token_file is not None:
        try:
            token = token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            refuse("--token-file cannot be read")
        if not token.isascii() or not token or any(char.isspace() for char in token):
            refuse("--token-file must hold one token and nothing else")
    with Console(stderr=True).status("asking Prometheus") as status:
        return take_snapshot(
            url, window, token=token, at=at, progress=lambda name: status.update(f"asking Prometheus for {name}")
        )


def _content(found: Snapshot, result: Diagnosis) -> dict[str, object]:
    return {
        "taken": found.taken.isoformat(),
        "window": found.window,
        "findings": [asdict(one) for one in result.findings],
        "unjudged": list(result.unjudged),
        "values": found.values,
    }


def _print(found: Snapshot, result: Diagnosis) -> None:
    from rich.table import Table

    from lantau.diagnose.signals import SIGNALS
    from lantau.report.console import console

    out = console()
    table = Table("signal", "of", "value", "unit", box=None)
    for name, signal in SIGNALS.items():
        for group, value in sorted(found.of(name).items()):
            table.add_row(name, group, f"{value:.4g}", signal.unit)
    out.print(table)
    taken = found.taken.astimezone(UTC)
    out.print(f"figures of the {found.window} before {taken:%Y-%m-%d %H:%M} UTC\n", soft_wrap=True)
    for one in result.findings:
        out.print(f"[bold red]{one.kind.value}[/]: {one.subject}", soft_wrap=True)
        for line in one.evidence:
            out.print(f"  {line}", soft_wrap=True)
        for number, action in enumerate(one.actions, start=1):
            out.print(f"  {number}. {action}", soft_wrap=True)
    if not result.findings:
        out.print("[bold green]nothing is short[/]" + (" among what has figures" if result.unjudged else ""))
    for question in result.unjudged:
        out.print(f"not judged, {question}", soft_wrap=True)
    sources = sorted({SIGNALS[name].source for name in found.missing})
    if sources:
        out.print(f"missing figures come from: {'; '.join(sources)}", soft_wrap=True)

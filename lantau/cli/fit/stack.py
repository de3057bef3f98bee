"""The releases that a stack points to, each on the cards of its pools."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from lantau.capacity.fit import Fit, Verdict
from lantau.fits import fits_of
from lantau.problems import InvalidInput, Problem
from lantau.release import Release, read_release
from lantau.report.console import console
from lantau.report.memory import Judged, bar, legend
from lantau.stack import load_stack
from lantau.stack.load import check_stack_name


def fit_stack(root: Path, name: str, *, as_json: bool, chart: Path | None) -> None:
    """Print one answer a release and pool; ends with 1 when one does not fit, 2 when one is unknown."""
    check_stack_name(root, name)
    stack = load_stack(root, name)
    releases: dict[tuple[str, str], Release] = {}
    problems: list[Problem] = []
    for model_name, model in stack.models.items():
        for release in dict.fromkeys(release for _, release in model.pointers()):
            try:
                releases[model_name, release] = read_release(root, model_name, release)
            except InvalidInput as error:
                problems.extend(error.problems)
    if problems:
        raise InvalidInput(problems)
    found = list(fits_of(stack, releases, root))
    for model_name, release, pool, judged in found:
        card = stack.pools[pool].hardware.card or ""
        if as_json:
            typer.echo(json.dumps(_content(model_name, release, pool, card, judged), ensure_ascii=False))
        else:
            _print(f"{model_name}: {release} on {card} of pool {pool}", judged)
    if chart is not None:
        from lantau.report.chart import write_chart

        bars = [
            Judged(f"{release} on {stack.pools[pool].hardware.card} of {pool}", fit) for _, release, pool, fit in found
        ]
        write_chart(chart, bars)
    verdicts = {judged.verdict for *_, judged in found}
    if Verdict.DOES_NOT_FIT in verdicts:
        raise typer.Exit(1)
    if Verdict.UNKNOWN in verdicts:
        raise typer.Exit(2)


def _content(model: str, release: str, pool: str, card: str, found: Fit) -> dict[str, object]:
    rank = found.rank
    return {
        "model": model,
        "release": release,
        "pool": pool,
        "card": card,
        "verdict": found.verdict.value,
        "weights_gib": round(rank.weights, 3) if rank else None,
        "kv_cache_gib": round(rank.cache, 3) if rank else None,
        "kv_cache_tokens": found.tokens,
        "max_concurrency": round(found.concurrency, 2) if found.concurrency is not None else None,
        "reason": found.reason,
    }


def _print(title: str, found: Fit) -> None:
    out = console()
    colour = {Verdict.FITS: "green", Verdict.MARGINAL: "yellow"}.get(found.verdict, "red")
    out.print(f"[bold {colour}]{found.verdict.value}[/]: {title}", soft_wrap=True)
    out.print(f"  {found.reason}", soft_wrap=True)
    if found.rank is not None:
        cached = found.pool is not None
        out.print("  ", bar(found.rank, cached=cached), sep="")
        out.print("  ", legend(found.rank, cached=cached), sep="", soft_wrap=True)

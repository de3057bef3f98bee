"""The short summary after `up` and for `status`: what runs, by tier."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lantau.platform import Platform
from workflow.cluster import ClusterView, WorkloadView
from workflow.events import Outcome

GOOD, BAD, FAINT = "green", "red", "bright_black"
BAR_CELLS = 16
Hint = tuple[str, str]
"""A command and what it is for."""


def render(platform: Platform, view: ClusterView, outcome: Outcome | None, hints: Sequence[Hint]) -> Panel:
    """The summary as one panel. `outcome` is what the last `up` did, None for a plain status."""
    parts: list[RenderableType] = [_pools(view), Text(), _models(view), Text(), _tiers(view), Text(), _secrets(view)]
    if outcome is not None:
        parts += [Text(), _outcome(outcome)]
    if hints:
        parts += [Text(), _hints(hints)]
    title = f"[bold]{platform.name}[/bold]  stage {platform.stack.stage}  config {platform.fingerprint}"
    return Panel(Group(*parts), title=title, title_align="left", border_style=FAINT, padding=(1, 2))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style=FAINT)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table


def _share(used: int, total: int) -> Text:
    if not total:
        return Text("–", style=FAINT)
    cells = min(BAR_CELLS, total)
    filled = round(cells * used / total)
    return Text("■" * filled, style="cyan") + Text("□" * (cells - filled), style=FAINT) + Text(f" {used}/{total}")


def _state(ready: int, wanted: int) -> Text:
    return Text(f"{ready}/{wanted} ready", style=GOOD if ready == wanted else BAD)


def _pods(view: WorkloadView) -> Text:
    return _state(view.ready, view.wanted)


def _pools(view: ClusterView) -> Table:
    table = _table("pool", "role", "nodes", "cards in use")
    for pool in view.pools:
        table.add_row(pool.name, pool.role, _state(pool.ready, pool.nodes), _share(pool.cards_used, pool.cards))
    return table


def _models(view: ClusterView) -> Table:
    table = _table("model", "release", "role", "requests", "pods")
    for release in view.releases:
        weight = Text(f"{release.weight} %", style="bold" if release.weight else FAINT)
        table.add_row(release.model, release.release, release.role, weight, _pods(release.pods))
    return table


def _tiers(view: ClusterView) -> Table:
    table = _table("tier", "what", "state")
    for name, address in view.gateways:
        table.add_row("gateway", name, address)
    for workload, pods in view.workloads.items():
        namespace, name = workload.split("/")
        table.add_row(namespace.removeprefix("lantau-"), name, _pods(pods))
    for claim, size, phase in view.volumes:
        namespace, name = claim.split("/")
        state = Text(f"{size} {phase}", style=GOOD if phase == "Bound" else BAD)
        table.add_row(namespace.removeprefix("lantau-"), name, state)
    for name, active, succeeded, wanted in view.jobs:
        table.add_row("batch", name, f"{active} running, {succeeded} of {wanted} done")
    return table


def _secrets(view: ClusterView) -> Table:
    table = _table("secret", "delivered to", "state")
    for namespace, name, synced in view.secrets:
        state = Text("synced from the managed store", style=GOOD) if synced else Text("not synced", style=BAD)
        table.add_row(name, namespace, state)
    return table


def _outcome(outcome: Outcome) -> Table:
    changes = ", ".join(
        f"{count} {operation}d" if operation.endswith("e") else f"{count} {operation}"
        for operation, count in sorted(outcome.changes.items())
        if operation not in ("same", "refresh")
    )
    mandatory = [violation for violation in outcome.violations if violation.level == "mandatory"]
    passed = len(outcome.policies) - len({violation.policy for violation in mandatory})
    advisory = len(outcome.violations) - len(mandatory)
    table = _table("what was done", "")
    done = Text(changes or "no changes", style="bold")
    table.add_row("changes", done + Text(f" in {outcome.seconds} s", style=FAINT))
    verdict = Text(f"{passed} of {len(outcome.policies)} passed", style=BAD if mandatory else GOOD)
    table.add_row("policies", verdict + Text(f", {advisory} advice" if advisory else "", style="yellow"))
    return table


def _hints(hints: Sequence[Hint]) -> Table:
    table = _table("look further", "")
    for command, what in hints:
        table.add_row(command, Text(what, style=FAINT))
    return table


def show(platform: Platform, view: ClusterView, outcome: Outcome | None, hints: Sequence[Hint]) -> None:
    """Print the summary to the terminal."""
    Console().print(render(platform, view, outcome, hints))

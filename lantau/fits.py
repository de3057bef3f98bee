"""Whether the releases that a stack points to fit the cards that they are sent to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lantau.capacity.fit import Fit, Verdict
from lantau.capacity.releases import changes_for, fit_release
from lantau.modelling import located
from lantau.release import release_path
from lantau.stack.load import ROOT

if TYPE_CHECKING:
    from lantau.problems import Problem
    from lantau.release import Release
    from lantau.stack import Stack
    from lantau.yamlfile import YamlFile

MOST_CHANGES = 3
"""Changes that are offered, the least painful first."""
MEASURE = "Start it once on such a card before users meet it, and read the cache's size in the engine's log."


def fits_of(
    stack: Stack, releases: Mapping[tuple[str, str], Release], root: Path
) -> Iterator[tuple[str, str, str, Fit]]:
    """(model, release, pool, estimate) of each release that a stack points to, on its pool and its overflow pool.

    A release that is kept warm counts as well: a rollback to it must start.
    """
    for name, model in stack.models.items():
        pools = [pool for pool in (model.pool, model.overflow) if pool is not None]
        for release in dict.fromkeys(release for _, release in model.pointers()):
            for pool in pools:
                card = stack.pools[pool].hardware.card
                if card is not None:
                    folder = release_path(root, name, release).parent
                    yield name, release, pool, fit_release(releases[name, release], card, folder)


def fit_problems(
    stack: Stack, releases: Mapping[tuple[str, str], Release], root: Path, source: YamlFile | None
) -> Iterator[Problem]:
    """What does not fit, with changes that would; what only a measurement decides comes as a warning."""
    for name, release, pool, found in fits_of(stack, releases, root):
        if found.verdict is Verdict.FITS:
            continue
        card = stack.pools[pool].hardware.card or ""
        pointer = next(path for path, pointed in stack.models[name].pointers() if pointed == release)
        path = release_path(Path(), name, release)
        refused = found.verdict is Verdict.DOES_NOT_FIT
        fix = "" if found.verdict is Verdict.UNKNOWN else _changes(releases[name, release], card, root / path, path)
        if not refused:
            fix = "\n".join(filter(None, (MEASURE, fix)))
        yield located(
            ("models", name, *pointer),
            f"{release} {_WORDS[found.verdict]} {card} of pool {pool}: {found.reason}",
            fix=fix,
            source=source,
            root=ROOT,
            warning=not refused,
        )


_WORDS = {
    Verdict.DOES_NOT_FIT: "does not fit",
    Verdict.MARGINAL: "may not fit",
    Verdict.UNKNOWN: "cannot be judged on",
}


def _changes(release: Release, card: str, file: Path, shown: Path) -> str:
    """Lines of YAML for a new release, one of which is enough."""
    offered = changes_for(release, card, file.parent)[:MOST_CHANGES]
    if not offered:
        return "No single change is enough: take a larger card, a smaller model, or more cards for each replica."
    first = f"# in a new release beside {shown}" + (", one of:" if len(offered) > 1 else ":")
    lines = [f"{_yaml(change.field, change.value)}   # {change.what}" for change in offered]
    return "\n".join([first, *lines])


def _yaml(field: str, value: int | str) -> str:
    block, _, key = field.partition(".")
    return f"{block}: {{ {key}: {value} }}"

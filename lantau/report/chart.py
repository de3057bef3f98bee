"""Memory of cards as a picture, PNG or SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lantau.problems import InvalidInput, Problem
from lantau.report.memory import Judged, drawable, needed, segments

FORMATS: Final = (".svg", ".png")
VERDICT_COLOURS: Final = {"fits": "#2a7d3b", "marginal": "#b06f00", "does not fit": "#c22f2f"}
ROW_INCHES: Final = 0.85


def check_chart(file: Path) -> None:
    """Refuse, before anything is computed, a file that no chart can be written to."""
    if file.suffix.lower() not in FORMATS:
        raise InvalidInput([Problem("--chart", f"a chart is an {' or a '.join(FORMATS)} file", fix="--chart fit.svg")])
    if not file.parent.is_dir():
        raise InvalidInput([Problem("--chart", "the folder of the file does not exist")])


def write_chart(file: Path, found: Sequence[Judged]) -> None:
    """Draw one bar a card for each estimate; raises InvalidInput where the picture cannot be made or written."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError:
        message = "charts need matplotlib, which is not installed"
        raise InvalidInput([Problem("--chart", message, fix='pip install "lantau[charts]"')]) from None
    rows = drawable(found)
    if not rows:
        raise InvalidInput([Problem("--chart", "there is nothing to draw: no memory could be told")])
    figure = Figure(figsize=(10, 1.5 + ROW_INCHES * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    kinds: dict[str, str] = {}
    widest = max(max(row.rank.total, needed(row.rank, cached=row.cached)) for row in rows)
    for place, row in enumerate(reversed(rows)):
        rank = row.rank
        left = 0.0
        for part in segments(rank, cached=row.cached):
            axes.barh(place, part.gib, left=left, height=0.5, color=part.colour, edgecolor="white", linewidth=0.5)
            if part.gib > widest * 0.055:
                axes.text(left + part.gib / 2, place, f"{part.gib:.1f}", ha="center", va="center", fontsize=8)
            kinds.setdefault(part.name, part.colour)
            left += part.gib
        axes.plot([rank.total, rank.total], [place - 0.34, place + 0.34], color="black", linewidth=1.5)
        axes.text(0, place + 0.33, row.title, ha="left", va="bottom", fontsize=9)
        colour = VERDICT_COLOURS.get(row.verdict, "black")
        axes.text(widest, place + 0.36, row.verdict, ha="right", va="bottom", fontsize=9, color=colour, weight="bold")
    axes.set_ylim(-0.5, len(rows) - 0.15)
    axes.set_xlim(0, widest * 1.02)
    axes.set_yticks([])
    axes.set_xlabel("GiB of one card (black line: all that it has)")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.legend(
        handles=[Patch(color=colour, label=name) for name, colour in kinds.items()],
        loc="outside upper center",
        ncols=len(kinds),
        frameon=False,
        fontsize=8,
    )
    try:
        # Without a date and with ids of its own making, two charts of one estimate are the same file.
        with rc_context({"svg.hashsalt": "lantau"}):
            figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix.lower() == ".svg" else None)
    except OSError as error:
        raise InvalidInput([Problem("--chart", f"the file cannot be written: {error.strerror or 'no'}")]) from None

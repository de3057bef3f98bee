"""What `lantau policy-check` does."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from policies.check.config import Configuration, read_configuration
from policies.check.files import Found, InputError, find
from policies.check.judge import Judged, judge_all
from policies.check.report import Printer, Tally, print_json, tell, tell_skipped
from policies.check.run import Checker
from policies.settings import Exemption

CLEAN, FOUND, BAD_INPUT = 0, 1, 2
_MANY: Final = 50
"""Files from which on a terminal shows progress."""


def run(paths: Sequence[str], config: str | Path | None = None, *, as_json: bool = False) -> int:
    """Judge and print; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names of files may hold bytes that are no characters.
            stream.reconfigure(errors="backslashreplace")
    try:
        configuration = read_configuration(str(config) if config is not None else None)
        return _run(find(paths), configuration, as_json=as_json)
    except InputError as error:
        tell(f"error: {error}")
        return BAD_INPUT
    except BrokenPipeError:
        # The reader has seen enough (`| head`); nothing is left to say to anybody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND


def _run(found: Found, configuration: Configuration, *, as_json: bool) -> int:
    for problem in found.problems:
        tell(f"error: {problem}")
    tally = Tally()
    printer = None if as_json else Printer()
    empty: list[str] = []
    told: set[str] = set()
    used: set[Exemption] = set()
    bad = bool(found.problems)
    for judged in _watched(judge_all(configuration, found.sources), len(found.sources)):
        _show(printer, judged)
        for note in judged.notes:
            if note not in told:
                told.add(note)
                tell(f"note: {note}")
        tally.add(judged)
        used |= judged.used
        bad = bad or bool(judged.problems)
        if judged.skipped and not judged.notes:
            empty.append(judged.file)
    if used or configuration.settings:
        last = Judged(configuration.file, list(Checker(configuration).after(used)), skipped=True)
        _show(printer, last)
        tally.add(last)
    tell_skipped(empty)
    if not tally.files and not bad:
        for folder in found.folders:
            tell(f"error: {folder}: there is no manifest in this folder")
        bad = True
    if printer is not None and tally.files:
        printer.end(tally)
    sys.stdout.flush()
    if bad:
        return BAD_INPUT
    return FOUND if tally.levels["mandatory"] else CLEAN


def _show(printer: Printer | None, judged: Judged) -> None:
    if printer is None:
        print_json(judged.lines)
    else:
        printer.print(judged.file, judged.lines)
    for problem in judged.problems:
        tell(f"error: {problem}")


def _watched(files: Iterator[Judged], count: int) -> Iterator[Judged]:
    """The same files, with a bar on a terminal while they are many."""
    with _bar(count) as bar:
        task = bar.add_task("judging", total=count) if bar is not None else None
        for judged in files:
            yield judged
            if bar is not None and task is not None:
                bar.advance(task)


@contextmanager
def _bar(count: int) -> Iterator[Progress | None]:
    console = Console(stderr=True)
    if count < _MANY or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # What goes into a pipe must stay out of the bar's way.
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        yield bar

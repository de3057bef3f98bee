"""What the user sees while the engine is being built: a live bar on a terminal, a line now and then in a log."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

LOG_SECONDS: Final = 15.0


class Reporter(Protocol):
    """How a build tells where it is. `update` is called several times a second."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def say(self, text: str) -> None:
        """One line that stays."""

    def begin(self, title: str, total: int) -> None:
        """A step begins; `total` counts what `update` counts, 0 when it is not known."""

    def update(self, done: int, note: str) -> None:
        """So much of the step is done; `note` says more, such as the time left."""

    def end(self, text: str) -> None:
        """The step is done; `text` says with what."""


class LogReporter:
    """Plain lines through `write`: one at each end of a step, and at most one every fifteen seconds between."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._title = ""
        self._total = 0
        self._spoken = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def say(self, text: str) -> None:
        self._write(text)

    def begin(self, title: str, total: int) -> None:
        self._title, self._total, self._spoken = title, total, self._clock()
        self._write(f"{title} ...")

    def update(self, done: int, note: str) -> None:
        if self._clock() - self._spoken >= LOG_SECONDS:
            self._spoken = self._clock()
            self._write(f"{self._title}: {_amount(done, self._total)} {note}".rstrip())

    def end(self, text: str) -> None:
        self._write(text)


class LiveReporter:
    """A bar that is redrawn in place on a terminal."""

    def __init__(self, console: Console) -> None:
        # The lines must not be longer than 80 characters, or rich cuts the words.
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),  # takes what the words leave of the line
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=True, expand=True)
        self._task = self._progress.add_task("", total=None, visible=False, note="")
        self._total = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        self._progress.console.print(text, highlight=False, markup=False)

    def begin(self, title: str, total: int) -> None:
        self._total = total
        self._progress.reset(self._task, description=title, total=total or None, visible=True, note="")

    def update(self, done: int, note: str) -> None:
        self._progress.update(self._task, completed=done, note=f"{_amount(done, self._total)} {note}".strip())

    def end(self, text: str) -> None:
        self._progress.update(self._task, visible=False, refresh=True)
        self.say(text)


def _amount(done: int, total: int) -> str:
    if total:
        return f"{done}/{total}"
    return f"{done}" if done else ""


def reporter_for(progress: Reporter | Callable[[str], None] | None) -> Reporter:
    """The given reporter; for a plain function one that writes lines through it; for None what fits the terminal.

    Progress goes to standard error, so that standard output stays free for what a command answers.
    """
    if progress is None:
        console = Console(stderr=True)
        if console.is_terminal and sys.stdout.isatty():
            return LiveReporter(console)
        return LogReporter(lambda text: print(text, file=sys.stderr, flush=True))
    if callable(progress):
        return LogReporter(progress)
    return progress

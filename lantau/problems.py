"""Problems that a person can act on: what is wrong, where, and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file that a person wrote.

    `where` is the dotted path of the field, `file` and `line` (counted from 1) say where it stands if that is
    known, `fix` is the YAML or the action that would be right.
    """

    where: str
    message: str
    fix: str = ""
    file: str = ""
    line: int | None = None
    warning: bool = False

    def render(self) -> str:
        """The problem as two or three lines of text for a terminal."""
        place = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        text = f"{place}{self.where}: {self.message}" if self.where else f"{place}{self.message}"
        if not self.fix:
            return text
        return text + "\n" + "\n".join(f"    {line}" for line in self.fix.splitlines())


class InvalidInput(Exception):  # noqa: N818 - it names the input's fault, not the program's
    """Input of a person is refused; `problems` holds every reason, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(problem.render() for problem in self.problems))


def dotted(path: Path) -> str:
    """A path as people write it: `models.chat.canary.weight`, `pools.online.nodes[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def nearest(word: str, valid: Sequence[str]) -> str:
    """` Did you mean "x"?` for a misspelt word, or the valid words when none is near."""
    close = difflib.get_close_matches(word, valid, n=1, cutoff=0.6)
    if close:
        return f'Did you mean "{close[0]}"?'
    return f"Valid here: {', '.join(sorted(valid))}." if valid else ""

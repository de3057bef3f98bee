"""Problems that a person can act on: what is wrong, where, and what would be right."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]

LONGEST_SHOWN = 40
# One leading capital is let through, so that "Production" can be shown next to "production".
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z0-9\-./:_]*")
_LOOKS_SECRET = re.compile(
    r"(?=[a-z]*[0-9])[A-Za-z0-9]{16,}|[A-Za-z0-9]{24,}"
    r"|[0-9a-f]{8}(-[0-9a-f]{4}){3}-|^(sk|pk|rk|ghp|gho|hf|glpat|xox[a-z])[-_]",
    re.IGNORECASE,
)


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


def harmless(text: str) -> bool:
    """Whether a text may be repeated in a message: short, plain, and not of the shape of a key or a password."""
    if len(text) > LONGEST_SHOWN or not _PLAIN_WORD.fullmatch(text) or _LOOKS_SECRET.search(text):
        return False
    return not (text[:1].isupper() and any(char.isdigit() for char in text))


def shown(text: str) -> str:
    """A text of a file in quotes, or only its length when it could be a secret that stands in a wrong place."""
    if harmless(text):
        return f'"{text}"'
    return f"a text of {len(text)} {'character' if len(text) == 1 else 'characters'}"


def bare(text: str) -> str:
    """As `shown`, without the quotes: for lists of names."""
    return text if harmless(text) else shown(text)


def fullwidth_hint(text: str) -> str:
    """`. It has full-width characters …` when an input method left such in a text, else nothing."""
    found = sorted({char for char in text if unicodedata.east_asian_width(char) == "F"})
    marks = "".join(char for char in found if not char.isalnum() and not char.isspace())
    if not found:
        return ""
    return (
        f". It has full-width characters{f' ({marks})' if marks else ''}: write half-width ones, such as : and a space"
    )


def dotted(path: Path) -> str:
    """A path as people write it: `models.chat.canary.weight`, `pools.online.nodes[0]`.

    A key that could be a secret in a wrong place is only described.
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        key = part if harmless(part) else f"<{shown(part)}>"
        text += f".{key}" if text else key
    return text


def nearest(word: str, valid: Sequence[str]) -> str:
    """` Did you mean "x"?` for a misspelt word, or the valid words when none is near."""
    close = difflib.get_close_matches(word, valid, n=1, cutoff=0.6)
    if close:
        return f'Did you mean "{close[0]}"?'
    return f"Valid here: {', '.join(sorted(valid))}." if valid else ""

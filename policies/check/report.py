"""What people and programs read."""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.text import Text

from policies.check.judge import Judged
from policies.check.run import Line
from policies.pack import rules

_STYLES: Final = {"mandatory": "bold red", "advisory": "yellow"}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_NAMES_SHOWN: Final = 5


class Tally:
    """What a whole run came to."""

    def __init__(self) -> None:
        self.levels: Counter[str] = Counter()
        self.files = self.objects = self.bad = 0

    def add(self, judged: Judged) -> None:
        """Count one file."""
        self.levels.update(line.level for line in judged.lines)
        self.files += not judged.skipped
        self.objects += judged.objects
        self.bad += bool(judged.problems)

    def __str__(self) -> str:
        total = self.levels.total()
        judged = f"{_counted(self.objects, 'object')} of {_counted(self.files, 'file')}"
        bad = f"; {_counted(self.bad, 'file')} could not be judged whole" if self.bad else ""
        if not total:
            return f"No findings in {judged}{bad}"
        levels = ", ".join(f"{count} {level}" for level, count in self.levels.most_common())
        return f"{_counted(total, 'finding')} ({levels}) in {judged}{bad}"


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def print_json(lines: Iterable[Line]) -> None:
    """One JSON object a finding."""
    for line in lines:
        print(json.dumps(line.as_dict(), ensure_ascii=False))


class Printer:
    """Findings for people: by file and object, each rule with its remedy."""

    def __init__(self) -> None:
        self.rules = {rule.name: rule for rule in rules()}
        self.console = Console(markup=False, highlight=False, soft_wrap=True)

    def print(self, file: str, lines: Iterable[Line]) -> None:
        """Findings of one file."""
        ordered = sorted(lines, key=lambda line: line.document)
        if not ordered:
            return
        self.console.print(Text(_harmless("standard input" if file == "-" else file), style="bold"))
        # An object's findings come from several rules; they are told where the object stands first.
        for (document, kind, name), of_object in groupby(
            sorted(ordered, key=lambda line: (line.document, line.kind, line.name)),
            key=lambda line: (line.document, line.kind, line.name),
        ):
            title = " ".join(filter(None, (kind, name))) or "document"
            self.console.print(Text(f"  {_harmless(title)}  ").append(f"document {document}", style="dim"))
            for (policy, level), of_rule in groupby(of_object, key=lambda line: (line.policy, line.level)):
                self._rule(policy, level, list(of_rule))
        self.console.print()

    def _rule(self, policy: str, level: str, lines: list[Line]) -> None:
        rule = self.rules[policy]
        head = Text("    ").append(level, style=_STYLES.get(level, ""))
        head.append(f" {lines[0].severity} ", style="dim").append(f"{rule.control} {policy}", style="bold")
        self.console.print(head)
        for line in lines:
            place = Text("      ").append(f"{_harmless(line.path)}: " if line.path else "", style="cyan")
            self.console.print(place.append(_harmless(line.text)))
        self.console.print(Text("      ").append("→ ", style="green").append(rule.fix).append(f" ({rule.url})", "dim"))

    def end(self, tally: Tally) -> None:
        """The closing line."""
        style = "bold red" if tally.levels["mandatory"] else "yellow" if tally.levels.total() or tally.bad else "green"
        self.console.print(Text(f"{tally}.", style=style))


def tell_skipped(files: list[str]) -> None:
    """One line about the files of folders that hold nothing to judge."""
    if files:
        more = f" and {len(files) - _NAMES_SHOWN:,} more" if len(files) > _NAMES_SHOWN else ""
        names = ", ".join(files[:_NAMES_SHOWN])
        tell(f"skipped: {_counted(len(files), 'file')} without a manifest: {names}{more}")


def tell(message: str) -> None:
    """A remark on standard error."""
    print("\n".join(_harmless(part) for part in message.split("\n")), file=sys.stderr)


def _harmless(text: str) -> str:
    """Text without characters that would command the terminal."""
    return _CONTROL.sub("�", " ".join(text.split()) if "\n" in text else text)

"""Findings of a preflight: each with a code for machines and a remedy for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from provider.values import Plain


@dataclass(frozen=True)
class Problem:
    """One thing that stands in the way."""

    code: str
    subject: str
    message: str
    remedy: str = ""

    def to_plain(self) -> Plain:
        """As a result of the function."""
        return asdict(self)


@dataclass
class Findings:
    """Collects problems; one cause is told once, whoever ran into it."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, code: str, subject: str, message: str, remedy: str = "") -> None:
        """Record a problem unless the same one is recorded."""
        problem = Problem(code, subject, message, remedy)
        if problem not in self.problems:
            self.problems.append(problem)

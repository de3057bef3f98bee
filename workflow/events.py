"""The engine's event log, read for what people and tests ask of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Violation:
    """One finding of a policy pack."""

    policy: str
    level: str
    """mandatory or advisory."""
    urn: str
    message: str


@dataclass
class Outcome:
    """What one operation of the engine did."""

    changes: Counter[str] = field(default_factory=Counter)
    """Resources by operation: create, update, delete, replace, same, refresh …"""
    steps: list[tuple[str, str]] = field(default_factory=list)
    """(operation, URN) of every resource that was not left alone, in the engine's order."""
    policies: set[str] = field(default_factory=set)
    """Names of the policies that ran."""
    violations: list[Violation] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Diagnostics of severity error, without colour."""
    seconds: int = 0
    interrupted: bool = False
    """Whether somebody pressed Ctrl-C."""

    @property
    def changed(self) -> int:
        """Number of resources that were created, updated, replaced or deleted."""
        return sum(count for operation, count in self.changes.items() if operation not in ("same", "refresh", "read"))

    def touched(self) -> list[tuple[str, str]]:
        """(operation, last two parts of the URN) of every changed resource."""
        return [(operation, "::".join(urn.split("::")[-2:])) for operation, urn in self.steps]


QUIET = {"same", "refresh", "read"}


def read_outcome(path: Path) -> Outcome:
    """Read an event log that the engine wrote. What a killed engine left of its last line is passed over."""
    outcome = Outcome()
    for event in _events(path):
        _add(outcome, event)
    return outcome


def _events(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def _add(outcome: Outcome, event: dict[str, Any]) -> None:
    if summary := event.get("summaryEvent"):
        outcome.changes.update(summary.get("resourceChanges") or {})
        outcome.seconds = summary.get("durationSeconds", 0)
    elif step := (event.get("resOutputsEvent") or event.get("resourcePreEvent")):
        metadata = step["metadata"]
        pair = (metadata["op"], metadata["urn"])
        if metadata["op"] not in QUIET and pair not in outcome.steps:
            outcome.steps.append(pair)
    elif policy := event.get("policyEvent"):
        outcome.violations.append(
            Violation(
                policy=policy["policyName"],
                level=policy["enforcementLevel"],
                urn=policy.get("resourceUrn", ""),
                message=plain_text(policy["message"]),
            )
        )
    elif checked := (event.get("policyAnalyzeSummaryEvent") or event.get("policyAnalyzeStackSummaryEvent")):
        outcome.policies.update(_names(checked.get("passed")), _names(checked.get("failed")))
    elif said := event.get("stdoutEvent"):
        outcome.interrupted |= said["message"].startswith("^C received")
    elif (diagnostic := event.get("diagnosticEvent")) and diagnostic.get("severity") == "error":
        outcome.errors.append(plain_text(diagnostic["message"]))


def _names(names: Iterable[str] | None) -> Iterable[str]:
    return names or ()


def plain_text(message: str) -> str:
    """A message of the engine without its colour marks (`<{%fg 1%}>`)."""
    while (start := message.find("<{%")) >= 0 and (end := message.find("%}>", start)) >= 0:
        message = message[:start] + message[end + 3 :]
    return message.strip()

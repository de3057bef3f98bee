"""PACK-03: every exception is used."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import EnforcementLevel, Severity

from policies.engine.rule import Finding, Rule, Verdict
from policies.engine.state import PACK
from policies.model.resource import Stack
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find exceptions that excused nothing in this run; runs last, after every rule had its say."""
    del stack
    for index, exemption in enumerate(settings.exceptions):
        if exemption not in PACK.used and exemption.expires >= PACK.today:
            text = f"the exception for {exemption.rule} on {exemption.resource} excuses nothing"
            yield Finding(f"exceptions[{index}]", text)


RULE: Final = Rule(
    control="PACK-03",
    name="pack-exceptions-used",
    title="Every exception is used",
    why="An exception that excuses nothing waits for a violation nobody will see.",
    fix="Remove the exception.",
    severity=Severity.LOW,
    level=EnforcementLevel.ADVISORY,
    stack_check=check,
)

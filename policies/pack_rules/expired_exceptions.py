"""PACK-02: no exception has expired."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Verdict
from policies.engine.state import PACK
from policies.model.resource import Stack
from policies.settings import Settings


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find exceptions whose time is over; they no longer excuse anything."""
    del stack
    for index, exemption in enumerate(settings.exceptions):
        if exemption.expires < PACK.today:
            text = f"the exception for {exemption.rule} on {exemption.resource} ended on {exemption.expires}"
            yield Finding(f"exceptions[{index}]", text)


RULE: Final = Rule(
    control="PACK-02",
    name="pack-exceptions-current",
    title="No exception has expired",
    why="An exception is a debt with a date; past the date it is a hole.",
    fix="Remove the exception, or renew it with a new reason and date.",
    severity=Severity.MEDIUM,
    stack_check=check,
)

"""PACK-01: the settings of the pack; runs first, so that every other rule judges by them."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.engine.state import PACK
from policies.model.resource import Resource
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Put the settings in force; settings that cannot be used are reported before this is reached."""
    del resource
    PACK.settings = settings
    return iter(())


RULE: Final = Rule(
    control="PACK-01",
    name="pack-settings",
    title="The settings of this pack can be used",
    why="A misspelt setting would silently leave the default in force.",
    fix="Correct the entry of pack-settings in the policy configuration.",
    severity=Severity.HIGH,
    uses=tuple(setting.name for setting in fields(Settings)),
    check=check,
)

"""DAT-01: claims in production are protected from deletion."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.production import is_production
from policies.engine.rule import Finding, Rule, Verdict
from policies.model.resource import Resource
from policies.settings import Settings

_MANIFEST: Final = "urn:pulumi:manifest::"


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find volume claims that `destroy` would delete. A manifest has no such option and is not asked for it."""
    if resource.options.protect or resource.urn.startswith(_MANIFEST) or not is_production(resource, settings):
        return
    for obj in resource.of("PersistentVolumeClaim"):
        if obj.group == "" and not obj.patch:
            yield Finding("", "the claim and its data can be deleted by a mistaken destroy", obj)


RULE: Final = Rule(
    control="DAT-01",
    name="claim-protected",
    title="Volume claims in production are protected from deletion",
    why="One `destroy` in the wrong stack deletes every vector and queue.",
    fix="Set the resource option protect to true.",
    severity=Severity.HIGH,
    uses=("production_stacks",),
    kinds=frozenset({"PersistentVolumeClaim"}),
    check=check,
)

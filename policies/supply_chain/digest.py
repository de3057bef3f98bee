"""SUP-01: images are pinned by digest."""

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings
from policies.supply_chain.images import images_of

_PINNED: Final = re.compile(r"[^\s@]{1,500}@sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})")


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find images of containers and image volumes that are not pinned by digest."""
    del settings
    for image in images_of(resource):
        if image.reference is UNKNOWN:
            yield Unjudged(f"{image.obj}: {image.path}")
        elif isinstance(image.reference, str) and image.reference and not _PINNED.fullmatch(image.reference):
            yield Finding(image.path, "a tag can be moved to another image", image.obj)


RULE: Final = Rule(
    control="SUP-01",
    name="image-pinned-by-digest",
    title="Images are pinned by digest",
    why="What was reviewed and tested must be what runs, on every node and after every restart.",
    fix="Write the image as name@sha256:<digest>.",
    severity=Severity.MEDIUM,
    cis="5.6.1",
    check=check,
)

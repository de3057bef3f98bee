"""SUP-01: images are pinned by digest."""

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, items
from policies.settings import Settings

_PINNED: Final = re.compile(r"[^\s@]{1,500}@sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})")


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find images of containers and image volumes that are not pinned by digest."""
    del settings
    for pod in resource.pods:
        places = [(f"{c.path}.image", c.body.get("image")) for c in pod.containers()]
        for path, volume in items(pod.setting("volumes"), f"{pod.path}.volumes"):
            places.append((f"{path}.image.reference", child(volume, "image", "reference")))
        for path, image in places:
            if image is UNKNOWN:
                yield Unjudged(f"{pod.obj}: {path}")
            elif isinstance(image, str) and image and not _PINNED.fullmatch(image):
                yield Finding(path, "a tag can be moved to another image", pod.obj)


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

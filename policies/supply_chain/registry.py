"""SUP-02: images come from allowed registries."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings
from policies.supply_chain.images import images_of


def full_name(image: str) -> str:
    """Image reference with the registry that the runtime fills in: nginx is docker.io/library/nginx."""
    host, slash, rest = image.partition("/")
    if not slash:
        return f"docker.io/library/{image}"
    if "." in host or ":" in host or host == "localhost":
        return image
    return f"docker.io/{host}/{rest}"


def allowed(image: str, prefixes: tuple[str, ...]) -> bool:
    """Whether an image lies under one of the prefixes, at a boundary of its path."""
    name = full_name(image)
    return any(name == prefix or name.startswith(f"{prefix.rstrip('/')}/") for prefix in prefixes)


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find images of containers and image volumes outside the allowed registries."""
    if not settings.registries:
        return
    for image in images_of(resource):
        if image.reference is UNKNOWN:
            yield Unjudged(f"{image.obj}: {image.path}")
        elif isinstance(image.reference, str) and image.reference and not allowed(image.reference, settings.registries):
            yield Finding(image.path, f"images come from {', '.join(settings.registries)} only", image.obj)


RULE: Final = Rule(
    control="SUP-02",
    name="image-from-allowed-registry",
    title="Images come from allowed registries",
    why="A registry of one's own is where images are scanned, signed and kept.",
    fix="Mirror the image into an allowed registry, or add the registry to `registries`.",
    severity=Severity.MEDIUM,
    cis="5.6.1",
    uses=("registries",),
    check=check,
)

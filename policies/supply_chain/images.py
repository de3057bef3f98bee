"""Every image that a resource names: in containers, image volumes, custom resources and values of charts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from policies.model.charts import charts_of
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, items, word_set

# Groups whose objects speak about images, or keep pods where the shape finds them.
_OTHERS: Final = (
    "",
    "apps",
    "batch",
    "extensions",
    "image.toolkit.fluxcd.io",
    "kyverno.io",
    "policies.kyverno.io",
    "gatekeeper.sh",
    "apiextensions.k8s.io",
    "admissionregistration.k8s.io",
    "kpack.io",
    "sigstore.dev",
    "metal3.io",
    "helm.sh",
)
_FILES: Final = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".webp", ".iso", ".qcow2", ".img", ".raw", ".vhd")
_TAGGED: Final = re.compile(
    r"[a-z0-9][a-z0-9._/-]{0,200}(?::[0-9]{1,5}/[a-z0-9._/-]{1,200})?:[A-Za-z0-9_][\w.-]{0,127}"
)
_HOSTED: Final = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?::[0-9]{1,5})?/[\w./:@-]{1,300}")
_DIGESTS: Final = ("digest", "sha", "imageDigest", "imageSha")
_PARTS: Final = word_set("repository tag digest registry")


@dataclass(frozen=True, slots=True)
class Image:
    """An image reference, or `UNKNOWN`, at a path of an object."""

    obj: Obj
    path: str
    reference: Plain


def images_of(resource: Resource) -> list[Image]:
    """Images of a resource, found once."""
    found: list[Image] | None = resource.cache.get("images")
    if found is None:
        found = resource.cache["images"] = [*_of_pods(resource), *_elsewhere(resource)]
    return found


def _of_pods(resource: Resource) -> Iterator[Image]:
    for pod in resource.pods:
        for container in pod.containers():
            yield Image(pod.obj, f"{container.path}.image", container.body.get("image"))
        for path, volume in items(pod.setting("volumes"), f"{pod.path}.volumes"):
            yield Image(pod.obj, f"{path}.image.reference", child(volume, "image", "reference"))


def _elsewhere(resource: Resource) -> Iterator[Image]:
    known = frozenset(id(container.body) for pod in resource.pods for container in pod.containers())
    nested = frozenset(id(obj.body) for obj in resource.objects)
    for obj in resource.objects:
        for chart in charts_of(obj):
            for path, values in chart.values:
                yield from _walk(obj, path, values, known, charted=True)
        if not obj.group.endswith(_OTHERS[4:]) and obj.group not in _OTHERS and not charts_of(obj):
            for key, member in obj.body.items():
                if key not in ("metadata", "status"):
                    yield from _walk(obj, f"{obj.path}.{key}" if obj.path else key, member, known | nested)


def _walk(obj: Obj, path: str, value: Plain, known: frozenset[int], *, charted: bool = False) -> Iterator[Image]:
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield from _walk(obj, f"{path}[{index}]", member, known, charted=charted)
    elif isinstance(value, dict) and id(value) not in known:
        image = value.get("image")
        if charted and isinstance(image, dict) and isinstance(image.get("repository"), str):
            yield Image(obj, f"{path}.image", _joined(image))
        elif isinstance(image, str) and _is_reference(image):
            digest = next((value[key] for key in _DIGESTS if isinstance(value.get(key), str)), "")
            yield Image(obj, f"{path}.image", f"{image}@{digest}" if digest and "@" not in image else image)
        for key, member in value.items():
            if isinstance(member, dict | list):
                yield from _walk(obj, f"{path}.{key}", member, known, charted=charted)


def _is_reference(text: str) -> bool:
    """Whether a text can only be meant as an image reference: it has a tag, a digest or the host of a registry."""
    if text.endswith(_FILES) or "://" in text:
        return False
    return "@sha256:" in text or bool(_TAGGED.fullmatch(text)) or bool(_HOSTED.fullmatch(text))


def _joined(image: dict[str, Plain]) -> Plain:
    """The reference a chart makes out of its parts."""
    parts = {key: image.get(key) for key in _PARTS}
    if UNKNOWN in parts.values():
        return UNKNOWN
    registry, tag, digest = parts["registry"], parts["tag"], parts["digest"]
    name = f"{registry}/{parts['repository']}" if registry else str(parts["repository"])
    name += f":{tag}" if tag not in (None, "") and "@" not in name else ""
    return f"{name}@{digest}" if digest else name

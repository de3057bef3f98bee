"""PSS-17: namespaces enforce the restricted standard."""

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, child, join
from policies.settings import Settings

_LABEL: Final = "pod-security.kubernetes.io/enforce"
_VERSION: Final = re.compile(r"v1\.(\d{1,4})")
_OLDEST: Final = 25
"""Earlier versions of the standard lack parts of it, so pinning one weakens the level."""


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find namespaces that do not enforce the restricted standard."""
    for obj in resource.of("Namespace"):
        if obj.group == "" and obj.name not in settings.system_namespaces:
            yield from _judge(obj)


def _judge(obj: Obj) -> Iterator[Verdict]:
    level = child(obj.body, "metadata", "labels", _LABEL)
    path = join(join(obj.path, "metadata.labels"), _LABEL)
    if level is UNKNOWN:
        yield Unjudged(f"{obj}: {path}")
    elif level is None:
        if not obj.patch:
            yield Finding(path, "the label is missing; warn and audit labels refuse nothing", obj)
    elif level != "restricted":
        yield Finding(path, "only restricted refuses what this pack refuses", obj)
    version = child(obj.body, "metadata", "labels", f"{_LABEL}-version")
    pinned = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if pinned is not None and int(pinned[1]) < _OLDEST:
        yield Finding(f"{path}-version", f"the standard of {version} lacks rules that came later", obj)


RULE: Final = Rule(
    control="PSS-17",
    name="namespace-enforces-restricted",
    title="Every namespace enforces the restricted Pod Security Standard",
    why="The API server then refuses pods that go round this pack.",
    fix=f"Label the namespace {_LABEL}: restricted.",
    severity=Severity.HIGH,
    cis="5.2.1",
    uses=("system_namespaces",),
    kinds=frozenset({"Namespace"}),
    check=check,
)

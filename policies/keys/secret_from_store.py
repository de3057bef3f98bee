"""KEY-05: Secret objects come from the managed store."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.detect.decode import base64_text
from policies.detect.values import is_public, is_reference
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, join
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find Secrets whose values are written into the program."""
    del settings
    for obj in resource.of("Secret"):
        if obj.group == "":
            yield from _judge(obj)


def _judge(obj: Obj) -> Iterator[Verdict]:
    for field in ("data", "stringData"):
        values = obj.body.get(field)
        path = join(obj.path, field)
        if values is UNKNOWN:
            yield Unjudged(f"{obj}: {path}")
        elif isinstance(values, dict):
            literal = [key for key, value in values.items() if _is_literal(value, encoded=field == "data")]
            if literal:
                text = f"the values of {', '.join(sorted(literal))} are written into the program"
                yield Finding(path, text, obj)


def _is_literal(value: object, *, encoded: bool) -> bool:
    """Whether a value is one; what the update makes is a literal of the state file."""
    if not isinstance(value, str):
        return value is not None
    text = (base64_text(value) or value) if encoded else value
    return bool(text.strip()) and not is_reference(text) and not is_reference(value) and not is_public(text)


RULE: Final = Rule(
    control="KEY-05",
    name="secret-from-managed-store",
    title="Secrets are delivered from the managed store, not written into the program",
    why="A Secret in the program is a key in the repository, in state and in every preview; base64 hides nothing.",
    fix="Put the value into the managed store and deliver it with an ExternalSecret.",
    severity=Severity.HIGH,
    cis="5.4.2",
    kinds=frozenset({"Secret"}),
    check=check,
)

"""SA-04: projected tokens have an audience and live an hour at most."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, items, join, number
from policies.settings import Settings

_LONGEST: Final = 3600
"""Seconds, and the API server's default."""


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find token sources of volumes and of CSI drivers without audience or with a long life."""
    del settings
    for pod in resource.pods:
        for path, volume in items(pod.setting("volumes"), f"{pod.path}.volumes"):
            for where, source in items(child(volume, "projected", "sources"), f"{path}.projected.sources"):
                if source is UNKNOWN:
                    yield Unjudged(f"{pod.obj}: {where}")
                    continue
                token = child(source, "serviceAccountToken")
                if token is not None:
                    yield from _judge(pod.obj, f"{where}.serviceAccountToken", token)
    for obj in resource.of("CSIDriver"):
        for path, token in items(child(obj.body, "spec", "tokenRequests"), join(obj.path, "spec.tokenRequests")):
            yield from _judge(obj, path, token)


def _judge(obj: Obj, path: str, token: Plain) -> Iterator[Verdict]:
    audience, seconds = child(token, "audience"), child(token, "expirationSeconds")
    if audience is UNKNOWN or seconds is UNKNOWN:
        yield Unjudged(f"{obj}: {path}")
        return
    if not audience:
        yield Finding(f"{path}.audience", "without an audience this is a token of the API server", obj)
    life = number(seconds)
    if life is not None and life > _LONGEST:
        yield Finding(f"{path}.expirationSeconds", f"the token lives longer than {_LONGEST} seconds", obj)


RULE: Final = Rule(
    control="SA-04",
    name="account-projected-token",
    title="Projected tokens name an audience and live an hour at most",
    why="A token for everybody, or for a day, is worth stealing.",
    fix="Set audience to the one service that checks the token, and expirationSeconds to 3600 or less.",
    severity=Severity.MEDIUM,
    cis="5.1.6",
    check=check,
)

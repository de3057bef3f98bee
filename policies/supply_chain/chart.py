"""SUP-03: charts are pinned, and their objects can be judged."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.production import is_production
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, leaves
from policies.settings import Settings

_OPAQUE: Final = "kubernetes:helm.sh/v3:Release"
_WEAKENS: Final = {
    "privileged": True,
    "allowPrivilegeEscalation": True,
    "runAsNonRoot": False,
    "runAsUser": 0,
    "hostNetwork": True,
    "hostPID": True,
    "hostIPC": True,
    "readOnlyRootFilesystem": False,
}


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find Helm releases without a version, over plain http, or with values that weaken pods."""
    if resource.token != _OPAQUE or not is_production(resource, settings):
        return
    version, repository = resource.body.get("version"), child(resource.body, "repositoryOpts", "repo")
    chart = resource.body.get("chart")
    if version is UNKNOWN or chart is UNKNOWN:
        yield Unjudged("version")
    elif not version and not (isinstance(chart, str) and ("@sha256:" in chart or chart.startswith((".", "/")))):
        yield Finding("version", "without a version the newest chart of the day is installed")
    for path, address in (("repositoryOpts.repo", repository), ("chart", chart)):
        if isinstance(address, str) and address.startswith("http://"):
            yield Finding(path, "the chart is fetched without TLS")
    yield from _values(resource.body.get("values"))


def _values(values: Plain) -> Iterator[Verdict]:
    for path, key, value in leaves(values, "values"):
        if value is UNKNOWN and key in _WEAKENS:
            yield Unjudged(path)
        elif key in _WEAKENS and value is not UNKNOWN and value == _WEAKENS[key] and value is not None:
            yield Finding(path, "this value weakens the pods of a chart whose objects nobody can judge here")


RULE: Final = Rule(
    control="SUP-03",
    name="chart-release-passes",
    title="A Helm release is pinned and its values weaken nothing",
    why="A v3 Release is one opaque resource; its objects never pass this pack.",
    fix="Use helm.v4.Chart, whose objects are judged; or pin the version and remove the value.",
    severity=Severity.MEDIUM,
    nsa="Supply chain",
    uses=("production_stacks",),
    check=check,
)

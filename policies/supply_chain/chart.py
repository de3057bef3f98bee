"""SUP-03: charts are pinned, and their objects can be judged."""

import re
from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.production import is_production
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.charts import Chart, charts_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, join
from policies.settings import Settings

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
_EXACT: Final = re.compile(r"v?\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][\w.+-]{1,80})?")


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find charts without an exact version, over plain http, or with values that weaken pods."""
    if not is_production(resource, settings):
        return
    for chart in (chart for obj in resource.objects for chart in charts_of(obj)):
        if chart.versioned:
            if chart.version is UNKNOWN:
                yield Unjudged(f"{chart.obj}: {chart.version_path}")
            elif not isinstance(chart.version, str) or not _EXACT.fullmatch(chart.version):
                text = "without an exact version the newest chart of the day is installed"
                yield Finding(chart.version_path, text, chart.obj)
        for path, address in chart.addresses:
            if isinstance(address, str) and address.startswith("http://"):
                yield Finding(path, "the chart is fetched without TLS", chart.obj)
        for path, values in chart.values:
            yield from _values(chart, path, values)


def _values(chart: Chart, path: str, values: Plain) -> Iterator[Verdict]:
    if isinstance(values, list):
        for index, member in enumerate(values):
            yield from _values(chart, f"{path}[{index}]", member)
    if not isinstance(values, dict):
        return
    for key, value in values.items():
        where = join(path, key)
        if key in _WEAKENS and value is UNKNOWN:
            yield Unjudged(f"{chart.obj}: {where}")
        elif key in _WEAKENS and type(value) is type(_WEAKENS[key]) and value == _WEAKENS[key]:
            text = "this value weakens the pods of a chart whose objects nobody can judge here"
            yield Finding(where, text, chart.obj)
        elif key.lower().endswith("securitycontext") and child(value, "enabled") is False:
            yield Finding(f"{where}.enabled", "this switches off what the chart does to secure its pods", chart.obj)
        yield from _values(chart, where, value)


RULE: Final = Rule(
    control="SUP-03",
    name="chart-release-passes",
    title="A Helm release is pinned and its values weaken nothing",
    why="A chart that a controller or a v3 Release renders is opaque: its objects never pass this pack.",
    fix="Use helm.v4.Chart, whose objects are judged; or pin the version and remove the value.",
    severity=Severity.MEDIUM,
    nsa="Supply chain",
    uses=("production_stacks",),
    check=check,
)

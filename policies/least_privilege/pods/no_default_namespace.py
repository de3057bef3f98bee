"""POD-02: nothing runs in the default namespace."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings

_KINDS: Final = frozenset(
    {
        "Pod",
        "PodTemplate",
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "Job",
        "CronJob",
    }
)


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find workloads in the default namespace, named or by leaving the namespace out."""
    del settings
    makers = {id(pod.obj.body) for pod in resource.pods}
    for obj in resource.objects:
        builtin = obj.group in ("", "apps", "batch", "extensions")
        if not builtin and id(obj.body) in makers and obj.metadata.get("namespace") == "default":
            # Without a namespace a custom resource may as well be one of the whole cluster.
            yield Finding("metadata.namespace", "the default namespace has no policies of its own", obj)
        elif builtin and obj.kind in _KINDS and not obj.patch:
            if obj.metadata.get("namespace") is UNKNOWN:
                yield Unjudged(f"{obj}: metadata.namespace")
            elif obj.namespace == "default":
                yield Finding("metadata.namespace", "the default namespace has no policies of its own", obj)


RULE: Final = Rule(
    control="POD-02",
    name="pod-no-default-namespace",
    title="Nothing runs in the default namespace",
    why="Everything that names no namespace lands there, past quotas, policies and owners.",
    fix="Set metadata.namespace.",
    severity=Severity.MEDIUM,
    cis="5.6.4",
    check=check,
)

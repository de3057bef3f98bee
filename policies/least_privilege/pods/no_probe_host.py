"""PSS-16: probes and hooks stay on the pod."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Rule, Verdict
from policies.least_privilege.pods.fields import found, pod_security, unjudged
from policies.model.pods import Pod
from policies.model.values import UNKNOWN, child

_PLACES: Final = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)


def judge(pod: Pod) -> Iterator[Verdict]:
    """Find probes and lifecycle hooks that name a host."""
    for container in pod.containers():
        for place in _PLACES:
            for handler in ("httpGet", "tcpSocket"):
                host = child(container.body, *place, handler, "host")
                path = ".".join((container.path, *place, handler, "host"))
                if host is UNKNOWN:
                    yield unjudged(pod, path)
                elif host:
                    yield found(pod, path, "the kubelet is made to send requests to another host")


RULE: Final[Rule] = pod_security(
    16,
    "no-probe-host",
    "Probes and lifecycle hooks name no host",
    judge,
    why="The kubelet sends the request from the node, past network policies.",
    fix="Remove host; the pod's own address is the default.",
    severity=Severity.MEDIUM,
)

"""Security fields of pods and containers, and the loop every Pod Security rule shares."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, ResourceCheck, Rule, Unjudged, Verdict
from policies.model.pods import Container, Pod
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child
from policies.settings import Settings

PodJudge = Callable[[Pod], Iterable[Verdict]]
STANDARD: Final = "Pod Security Standards, restricted, v1.37"


def over_pods(judge: PodJudge) -> ResourceCheck:
    """Check that runs `judge` on every pod of a resource and leaves unknown containers to the update."""

    def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
        del settings
        for pod in resource.pods:
            yield from (Unjudged(f"{pod.obj}: {path}") for path in pod.unknown_containers())
            yield from judge(pod)

    return check


def pod_security(
    number: int, name: str, title: str, judge: PodJudge, *, why: str, fix: str, severity: Severity, cis: str = ""
) -> Rule:
    """One rule of the Pod Security set."""
    return Rule(
        control=f"PSS-{number:02}",
        name=f"pod-{name}",
        title=title,
        why=why,
        fix=fix,
        severity=severity,
        cis=cis,
        nsa="Kubernetes Pod security",
        tags=("pod-security-restricted",),
        check=over_pods(judge),
    )


def found(pod: Pod, path: str, text: str) -> Finding:
    """Finding at a place of a pod."""
    return Finding(path, text, pod.obj)


def unjudged(pod: Pod, path: str) -> Unjudged:
    """Unknown at a place of a pod."""
    return Unjudged(f"{pod.obj}: {path}")


def contexts(pod: Pod) -> Iterator[tuple[str, Plain]]:
    """Security contexts of the pod and its containers with their paths; may be `UNKNOWN`."""
    own = pod.setting("securityContext")
    if own is not None:
        yield f"{pod.path}.securityContext", own
    for container in pod.containers():
        context = container.body.get("securityContext")
        if context is not None:
            yield f"{container.path}.securityContext", context


def of_container(container: Container, *keys: str) -> Plain:
    """Field of a container's security context."""
    return child(container.body, "securityContext", *keys)


def flag(pod: Pod, path: str, value: Plain, text: str) -> Iterator[Verdict]:
    """Verdict on a switch that must be off or missing."""
    if value is UNKNOWN:
        yield unjudged(pod, path)
    elif value not in (None, False):
        yield found(pod, path, text)


def each(*judges: PodJudge) -> PodJudge:
    """Several judges as one."""

    def judge(pod: Pod) -> Iterator[Verdict]:
        for one in judges:
            yield from one(pod)

    return judge

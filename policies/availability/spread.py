"""AVL-03: pods of a service are spread over nodes."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.availability.workloads import Workload, workloads
from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.resource import Stack
from policies.model.selectors import matches
from policies.model.values import UNKNOWN, Plain, child, items, number
from policies.settings import Settings

# Labels that all nodes of a pool, or of the cluster, share.
_SHARED: Final = ("kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/", "node.kubernetes.io/instance-type")


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find workloads of several pods that may all land on one node."""
    for workload in workloads(stack, settings):
        if not workload.several:
            continue
        spread = workload.pod.setting("topologySpreadConstraints")
        apart = child(workload.pod.setting("affinity"), "podAntiAffinity")
        path = f"{workload.pod.path}.topologySpreadConstraints"
        answers = [_spreads(constraint, workload) for _, constraint in items(spread, path)]
        answers += [_parts(term, workload) for term in _terms(apart)]
        if True in answers:
            continue
        if None in answers:
            yield Unjudged(f"{workload.obj}: {path}", workload.resource)
        else:
            text = "all pods may land on the same node"
            if answers:
                text += "; what is written selects other pods or no places"
            yield Finding(path, text, workload.obj, workload.resource)


def _terms(apart: Plain) -> Iterator[Plain]:
    if apart is UNKNOWN:
        yield UNKNOWN
    for _, term in items(child(apart, "requiredDuringSchedulingIgnoredDuringExecution"), ""):
        yield term
    for _, weighted in items(child(apart, "preferredDuringSchedulingIgnoredDuringExecution"), ""):
        yield child(weighted, "podAffinityTerm")


def _spreads(constraint: Plain, workload: Workload) -> bool | None:
    skew, replicas = number(child(constraint, "maxSkew")), number(workload.replicas)
    hard = child(constraint, "whenUnsatisfiable") == "DoNotSchedule"
    if hard and skew is not None and replicas is not None and skew >= replicas:
        return False
    return _parts(constraint, workload)


def _parts(term: Plain, workload: Workload) -> bool | None:
    """Whether a constraint or a term keeps the pods of a workload apart from each other."""
    if term is UNKNOWN:
        return None
    key, selector = child(term, "topologyKey"), child(term, "labelSelector")
    if (isinstance(key, str) and (not key or key.startswith(_SHARED))) or key is None or selector is None:
        return False
    elsewhere = child(term, "namespaces")
    if isinstance(elsewhere, list) and elsewhere and workload.obj.namespace not in elsewhere:
        return False
    answer = matches(selector, workload.pod.labels)
    return None if key is UNKNOWN and answer else answer


RULE: Final = Rule(
    control="AVL-03",
    name="workload-spread",
    title="Pods of a service in production are spread over nodes",
    why="Two pods on one node fail together.",
    fix="Add a topologySpreadConstraint over kubernetes.io/hostname, or a podAntiAffinity.",
    severity=Severity.MEDIUM,
    uses=("production_stacks",),
    stack_check=check,
)

"""Network policies of a program, in the dialects that the common network plugins enforce."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from policies.least_privilege.network import admin, calico, cilium, kubernetes
from policies.least_privilege.network.traffic import Policy
from policies.model.objects import Obj
from policies.model.resource import Resource, Stack
from policies.model.values import Plain

_READERS: Final[dict[tuple[str, str], Callable[[Obj], Iterator[Policy]]]] = {
    ("networking.k8s.io", "NetworkPolicy"): kubernetes.read,
    ("extensions", "NetworkPolicy"): kubernetes.read,
    ("cilium.io", "CiliumNetworkPolicy"): cilium.read,
    ("cilium.io", cilium.CLUSTERWIDE): cilium.read,
    ("projectcalico.org", "NetworkPolicy"): calico.read,
    ("projectcalico.org", calico.GLOBAL): calico.read,
    ("crd.projectcalico.org", "NetworkPolicy"): calico.read,
    ("crd.projectcalico.org", calico.GLOBAL): calico.read,
    ("policy.networking.k8s.io", "AdminNetworkPolicy"): admin.read,
    ("policy.networking.k8s.io", "BaselineAdminNetworkPolicy"): admin.read,
    ("policy.networking.k8s.io", "ClusterNetworkPolicy"): admin.read,
}
KINDS: Final = frozenset(kind for _, kind in _READERS)


@dataclass(frozen=True)
class Network:
    """Policies of a program by namespace; `wide` ones reach every namespace, `unplaced` is one nobody knows yet."""

    by_namespace: dict[str, list[Policy]]
    wide: list[Policy]
    unplaced: bool

    def denies(self, namespace: str, direction: str) -> bool | None:
        """Whether a namespace denies a direction by default; None when an unknown may still make it so."""
        return self._some(namespace, direction, lambda policy: policy.governs_all(namespace))

    def covers(self, namespace: str, labels: dict[str, Plain], direction: str) -> bool | None:
        """Whether pods with `labels` are governed in a direction."""
        return self._some(namespace, direction, lambda policy: policy.governs(namespace, labels))

    def _some(self, namespace: str, direction: str, governs: Callable[[Policy], bool | None]) -> bool | None:
        answer: bool | None = None if self.unplaced else False
        for policy in (*self.by_namespace.get(namespace, ()), *self.wide):
            isolates = policy.isolates[direction]
            if isolates is False or policy.opens(direction):
                continue
            selected = governs(policy)
            if selected and isolates:
                return True
            if selected is not False:
                answer = None
        return answer


def network_of(stack: Stack) -> Network:
    """Network of a program, built once a run."""
    found: Network | None = stack.cache.get("network")
    if found is None:
        placed: dict[str, list[Policy]] = {}
        wide: list[Policy] = []
        unplaced = False
        for resource in stack.resources:
            for policy in policies_of(resource):
                if policy.namespace is None:
                    wide.append(policy)
                elif policy.namespace:
                    placed.setdefault(policy.namespace, []).append(policy)
                else:
                    unplaced = True
        found = stack.cache["network"] = Network(placed, wide, unplaced)
    return found


def policies_of(resource: Resource) -> list[Policy]:
    """Network policies in one resource, read once for all rules."""
    found: list[Policy] | None = resource.cache.get("network policies")
    if found is None:
        found = []
        for obj in resource.objects:
            reader = _READERS.get((obj.group, obj.kind))
            if reader is not None:
                found.extend(reader(obj))
        resource.cache["network policies"] = found
    return found

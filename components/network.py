"""Named network flows. Every namespace denies everything; what may talk is said here, one policy a direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from lantau.labels import standard_labels

net = k8s.networking.v1
NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"


@dataclass(frozen=True)
class Peer:
    """Pods of one namespace that share labels; `labels` must not be empty, whole namespaces are never a peer."""

    namespace: str
    labels: Mapping[str, str]

    def rule(self) -> k8s.networking.v1.NetworkPolicyPeerArgs:
        """The peer as a NetworkPolicy takes it: namespace and pods in one element, so that both must match."""
        return net.NetworkPolicyPeerArgs(
            namespace_selector=k8s.meta.v1.LabelSelectorArgs(match_labels={NAMESPACE_NAME_LABEL: self.namespace}),
            pod_selector=k8s.meta.v1.LabelSelectorArgs(match_labels=dict(sorted(self.labels.items()))),
        )


def _ports(ports: Sequence[int], protocols: Sequence[str] = ("TCP",)) -> list[k8s.networking.v1.NetworkPolicyPortArgs]:
    return [net.NetworkPolicyPortArgs(port=port, protocol=protocol) for port in ports for protocol in protocols]


def _policy(
    name: str,
    namespace: str,
    selector: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    *,
    ingress: list[k8s.networking.v1.NetworkPolicyIngressRuleArgs] | None = None,
    egress: list[k8s.networking.v1.NetworkPolicyEgressRuleArgs] | None = None,
    types: Sequence[str],
) -> k8s.networking.v1.NetworkPolicy:
    return net.NetworkPolicy(
        f"{namespace}-{name}",
        metadata=k8s.meta.v1.ObjectMetaArgs(
            name=name, namespace=namespace, labels=standard_labels(name, instance=name, tier="network")
        ),
        spec=net.NetworkPolicySpecArgs(
            pod_selector=k8s.meta.v1.LabelSelectorArgs(match_labels=dict(sorted(selector.items()))),
            policy_types=list(types),
            ingress=ingress,
            egress=egress,
        ),
        opts=opts,
    )


def deny_all(namespace: str, opts: pulumi.ResourceOptions) -> k8s.networking.v1.NetworkPolicy:
    """Deny both directions to every pod of a namespace."""
    return _policy("default-deny", namespace, {}, opts, types=("Ingress", "Egress"))


def allow_dns(namespace: str, opts: pulumi.ResourceOptions) -> k8s.networking.v1.NetworkPolicy:
    """Let every pod of a namespace ask the cluster's DNS, and nothing else, for names."""
    rule = net.NetworkPolicyEgressRuleArgs(
        to=[Peer("kube-system", {"k8s-app": "kube-dns"}).rule()], ports=_ports([53], ("UDP", "TCP"))
    )
    return _policy("allow-dns", namespace, {}, opts, egress=[rule], types=("Egress",))


def allow_ingress(
    name: str,
    namespace: str,
    selector: Mapping[str, str],
    peers: Sequence[Peer],
    ports: Sequence[int],
    opts: pulumi.ResourceOptions,
) -> k8s.networking.v1.NetworkPolicy:
    """Let `peers` reach the selected pods on TCP `ports`."""
    rule = net.NetworkPolicyIngressRuleArgs(from_=[peer.rule() for peer in peers], ports=_ports(ports))
    return _policy(name, namespace, selector, opts, ingress=[rule], types=("Ingress",))


def allow_addresses(
    name: str,
    namespace: str,
    selector: Mapping[str, str],
    blocks: Sequence[str],
    ports: Sequence[int],
    opts: pulumi.ResourceOptions,
) -> k8s.networking.v1.NetworkPolicy:
    """Let the selected pods reach addresses outside the cluster, as CIDR blocks, on TCP `ports`."""
    to = [net.NetworkPolicyPeerArgs(ip_block=net.IPBlockArgs(cidr=block)) for block in blocks]
    rule = net.NetworkPolicyEgressRuleArgs(to=to, ports=_ports(ports))
    return _policy(name, namespace, selector, opts, egress=[rule], types=("Egress",))


def allow_egress(
    name: str,
    namespace: str,
    selector: Mapping[str, str],
    peers: Sequence[Peer],
    ports: Sequence[int],
    opts: pulumi.ResourceOptions,
) -> k8s.networking.v1.NetworkPolicy:
    """Let the selected pods reach `peers` on TCP `ports`."""
    rule = net.NetworkPolicyEgressRuleArgs(to=[peer.rule() for peer in peers], ports=_ports(ports))
    return _policy(name, namespace, selector, opts, egress=[rule], types=("Egress",))

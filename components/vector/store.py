"""Qdrant as vector store: one peer or a cluster of peers, each with its own volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.network import Peer, allow_egress, allow_ingress
from components.secrets import Delivery, DeliveryArgs, ManagedKey, ManagedKeyArgs, NamespaceStore, NamespaceStoreArgs
from components.storage import persistent_claim
from components.vector.backup import VectorBackup, VectorBackupArgs
from components.vector.peer import CONFIG, CONFIG_FILE, NAME, P2P_PORT, PEERS_SERVICE, peer_pod, startup_seconds
from lantau.endpoints import BACKEND_LABELS, VECTOR, VECTOR_KEY, VECTOR_KEY_FIELD, VECTOR_TIER
from lantau.labels import NAMESPACE_BUSINESS, NAMESPACE_VECTOR, standard_labels
from lantau.platform import Platform

core = k8s.core.v1
meta = k8s.meta.v1

VOLUME: Final = "storage"


def secret_name(platform: Platform) -> str:
    """Secret with the configuration that holds the key. Qdrant reads it at start: a new epoch is another Secret."""
    return f"{NAME}-config-{platform.stack.secrets.epoch}"


@dataclass(frozen=True)
class VectorStoreArgs:
    """A checked platform."""

    platform: Platform


@dataclass(frozen=True)
class VectorStoreResources:
    """What the vector store consists of."""

    store: NamespaceStore
    key: ManagedKey
    delivery: Delivery
    claims: tuple[k8s.core.v1.PersistentVolumeClaim, ...]
    """One of each peer, in their order."""
    account: k8s.core.v1.ServiceAccount
    service: k8s.core.v1.Service
    peers: k8s.core.v1.Service
    stateful_set: k8s.apps.v1.StatefulSet
    disruption: k8s.policy.v1.PodDisruptionBudget | None
    """None for a single peer: a budget would hold every drain of its node for ever."""
    backup: VectorBackup | None
    """None where the stack asks for none."""
    flows: tuple[k8s.networking.v1.NetworkPolicy, ...]


class VectorStore(Component):
    """Qdrant on the data pool. From two peers on they form a cluster, and collections keep two copies by default."""

    TOKEN: ClassVar[str] = "lantau:vector:VectorStore"

    resources: VectorStoreResources
    url: str
    """REST address for callers in the cluster."""

    def __init__(self, name: str, args: VectorStoreArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        stack = args.platform.stack
        self.url = f"http://{VECTOR.host}:{VECTOR.ports['http']}"
        self._labels = standard_labels(NAME, instance=NAME, tier="vector")
        store, key, delivery = self._keys(name, args.platform)
        claims = tuple(
            persistent_claim(
                f"{name}-claim-{ordinal}",
                name=f"{VOLUME}-{NAME}-{ordinal}",
                namespace=NAMESPACE_VECTOR,
                labels=self._labels,
                gib=stack.vector.storage_gib,
                storage_class=stack.cluster.storage_class,
                opts=self.child(protect=stack.protect_data),
            )
            for ordinal in range(stack.vector.replicas)
        )
        account = core.ServiceAccount(
            f"{name}-account", metadata=self._metadata(NAME), automount_service_account_token=False, opts=self.child()
        )
        service, peers = self._services(name)
        flows = self._flows(clustered=stack.vector.replicas > 1)
        stateful_set = self._stateful_set(name, args.platform, [delivery, *claims, account, service, peers, *flows])
        self.resources = VectorStoreResources(
            store=store,
            key=key,
            delivery=delivery,
            claims=claims,
            account=account,
            service=service,
            peers=peers,
            stateful_set=stateful_set,
            disruption=self._disruption(name) if stack.vector.replicas > 1 else None,
            backup=self._backup(name, args.platform, key, [store, key, peers, stateful_set]),
            flows=flows,
        )
        self.finish({"url": self.url, "peers": stack.vector.replicas})

    def _metadata(self, name: str, annotations: dict[str, str] | None = None) -> k8s.meta.v1.ObjectMetaArgs:
        return meta.ObjectMetaArgs(name=name, namespace=NAMESPACE_VECTOR, labels=self._labels, annotations=annotations)

    def _keys(self, name: str, platform: Platform) -> tuple[NamespaceStore, ManagedKey, Delivery]:
        stack = platform.stack
        store = NamespaceStore(
            f"{name}-store",
            NamespaceStoreArgs(
                stack_name=platform.name, store=stack.secrets, tier=VECTOR_TIER, namespace=NAMESPACE_VECTOR
            ),
            self.child(),
        )
        key = ManagedKey(
            f"{name}-key",
            ManagedKeyArgs(
                stack_name=platform.name,
                store=stack.secrets,
                protect=stack.protect_data,
                tier=VECTOR_TIER,
                key=VECTOR_KEY,
                description="API key of the vector store",
                fields={VECTOR_KEY_FIELD: 48},
            ),
            self.child(),
        )
        delivery = Delivery(
            f"{name}-config",
            DeliveryArgs(
                namespace=NAMESPACE_VECTOR,
                secret_name=secret_name(platform),
                files={CONFIG_FILE: CONFIG},
                values={"key": key.field(VECTOR_KEY_FIELD)},
            ),
            self.child(depends_on=[store, key]),
        )
        return store, key, delivery

    def _backup(
        self, name: str, platform: Platform, key: ManagedKey, depends_on: list[pulumi.Resource]
    ) -> VectorBackup | None:
        if platform.stack.vector.backup is None:
            return None
        return VectorBackup(f"{name}-backup", VectorBackupArgs(platform, key), self.child(depends_on=depends_on))

    def _services(self, name: str) -> tuple[k8s.core.v1.Service, k8s.core.v1.Service]:
        # The pods come after both and are waited for themselves.
        unwaited = {"pulumi.com/skipAwait": "true"}

        def ports(named: dict[str, int]) -> list[k8s.core.v1.ServicePortArgs]:
            return [
                core.ServicePortArgs(name=port, port=number, target_port=port, protocol="TCP")
                for port, number in named.items()
            ]

        service = core.Service(
            f"{name}-service",
            metadata=self._metadata(NAME, unwaited),
            spec=core.ServiceSpecArgs(
                type="ClusterIP", selector=dict(VECTOR.pod_labels), ports=ports(dict(VECTOR.ports))
            ),
            opts=self.child(),
        )
        peers = core.Service(
            f"{name}-peers",
            metadata=self._metadata(PEERS_SERVICE, unwaited),
            spec=core.ServiceSpecArgs(
                type="ClusterIP",
                cluster_ip="None",
                selector=dict(VECTOR.pod_labels),
                # A peer is ready once it hears from the others: they must find each other before that.
                publish_not_ready_addresses=True,
                ports=ports({"p2p": P2P_PORT}),
            ),
            opts=self.child(),
        )
        return service, peers

    def _flows(self, *, clustered: bool) -> tuple[k8s.networking.v1.NetworkPolicy, ...]:
        from_backend = allow_ingress(
            "qdrant-from-backend",
            NAMESPACE_VECTOR,
            VECTOR.pod_labels,
            [Peer(NAMESPACE_BUSINESS, BACKEND_LABELS)],
            sorted(VECTOR.ports.values()),
            self.child(),
        )
        if not clustered:
            return (from_backend,)
        peer = Peer(NAMESPACE_VECTOR, VECTOR.pod_labels)
        # A peer fetches the snapshot of a shard that moves to it by the other one's REST API.
        ports = [VECTOR.ports["http"], P2P_PORT]
        return (
            from_backend,
            *(
                allow(f"qdrant-{way}-peers", NAMESPACE_VECTOR, VECTOR.pod_labels, [peer], ports, self.child())
                for way, allow in (("from", allow_ingress), ("to", allow_egress))
            ),
        )

    def _stateful_set(
        self, name: str, platform: Platform, depends_on: list[pulumi.Resource]
    ) -> k8s.apps.v1.StatefulSet:
        stack = platform.stack
        seconds = startup_seconds(stack.vector.storage_gib) + 600
        return k8s.apps.v1.StatefulSet(
            f"{name}-stateful-set",
            metadata=self._metadata(NAME),
            spec=k8s.apps.v1.StatefulSetSpecArgs(
                replicas=stack.vector.replicas,
                service_name=PEERS_SERVICE,
                # After a power cut no peer is ready before most others run: one after another would wait for ever.
                pod_management_policy="Parallel",
                selector=meta.LabelSelectorArgs(match_labels=dict(VECTOR.pod_labels)),
                persistent_volume_claim_retention_policy=(
                    k8s.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicyArgs(
                        when_deleted="Retain", when_scaled="Retain"
                    )
                ),
                # Only the name matters: the claims that it leads to exist already.
                volume_claim_templates=[
                    core.PersistentVolumeClaimArgs(
                        metadata=meta.ObjectMetaArgs(name=VOLUME),
                        spec=core.PersistentVolumeClaimSpecArgs(
                            access_modes=["ReadWriteOnce"],
                            resources=core.VolumeResourceRequirementsArgs(
                                requests={"storage": f"{stack.vector.storage_gib}Gi"}
                            ),
                            storage_class_name=stack.cluster.storage_class,
                        ),
                    )
                ],
                template=core.PodTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels=self._labels),
                    spec=peer_pod(stack, config_secret=secret_name(platform), volume=VOLUME),
                ),
            ),
            opts=self.child(
                depends_on=depends_on,
                timeout=f"{seconds * stack.vector.replicas}s",
                # The API server lets nobody change them, and a larger volume must not replace the StatefulSet:
                # the claims, which are resources of their own, grow in place.
                ignore_changes=["spec.volumeClaimTemplates"],
            ),
        )

    def _disruption(self, name: str) -> k8s.policy.v1.PodDisruptionBudget:
        return k8s.policy.v1.PodDisruptionBudget(
            f"{name}-disruption",
            metadata=self._metadata(NAME),
            spec=k8s.policy.v1.PodDisruptionBudgetSpecArgs(
                max_unavailable=1,
                selector=meta.LabelSelectorArgs(match_labels=dict(VECTOR.pod_labels)),
                # A peer that is catching up may hold the second copy: it counts as away until it is ready.
                unhealthy_pod_eviction_policy="IfHealthyBudget",
            ),
            opts=self.child(),
        )

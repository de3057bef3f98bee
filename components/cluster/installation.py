"""Who this cluster belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pulumi
import pulumi_kubernetes as k8s
import pulumi_random as random

from components.base import Component
from lantau.labels import NAMESPACE_SYSTEM, standard_labels


@dataclass(frozen=True)
class InstallationArgs:
    """Name and stage of the Pulumi stack that owns the cluster."""

    stack_name: str
    stage: str


class Installation(Component):
    """Who owns the cluster, written where people look for it, and an identity that is drawn once for the stack's life.

    A cluster that was rebuilt under the same name is another installation: records of two of them are never mixed up.
    The identity is an output only: in the record it would be unknown in the first preview, which judges every value.
    """

    TOKEN: ClassVar[str] = "lantau:cluster:Installation"

    identity: pulumi.Output[str]
    """UUID of the installation."""
    record: k8s.core.v1.ConfigMap

    def __init__(self, name: str, args: InstallationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        # The default provider of its package serves: there is nothing to configure and no cluster to mistake.
        self.identity = random.RandomUuid(f"{name}-identity", opts=self.child()).result
        self.record = k8s.core.v1.ConfigMap(
            f"{name}-record",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name="installation",
                namespace=NAMESPACE_SYSTEM,
                labels=standard_labels("installation", instance=name, tier="system"),
            ),
            data={"stack": args.stack_name, "stage": args.stage},
            opts=self.child(),
        )
        self.finish({"identity": self.identity})

"""Volumes that hold data: claims of our own, so that they are protected and outlive the pods that use them."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s

core = k8s.core.v1


def persistent_claim(
    resource_name: str,
    *,
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    gib: int,
    storage_class: str | None,
    opts: pulumi.ResourceOptions,
) -> k8s.core.v1.PersistentVolumeClaim:
    """Claim a volume of `gib` GiB for one node at a time; `storage_class` None means the cluster's default.

    Not waited for: a class that binds to the first consumer binds it only once a pod uses it.
    """
    return core.PersistentVolumeClaim(
        resource_name,
        metadata=k8s.meta.v1.ObjectMetaArgs(
            name=name,
            namespace=namespace,
            labels=dict(sorted(labels.items())),
            annotations={"pulumi.com/skipAwait": "true"},
        ),
        spec=core.PersistentVolumeClaimSpecArgs(
            access_modes=["ReadWriteOnce"],
            resources=core.VolumeResourceRequirementsArgs(requests={"storage": f"{gib}Gi"}),
            storage_class_name=storage_class,
        ),
        opts=opts,
    )

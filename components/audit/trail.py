"""What the API server must record, kept in the cluster for everybody who installs or verifies it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from lantau.audit.flags import HOT_DAYS, installation_files, policy_sha256
from lantau.labels import NAMESPACE_SYSTEM, PREFIX, standard_labels


@dataclass(frozen=True)
class AuditTrailArgs:
    """`hot_days` is how many days events stay on the control-plane nodes; at least 90. `archive_days` is how many they
    stay in the archive, None where there is none."""

    hot_days: int = HOT_DAYS
    archive_days: int | None = None


class AuditTrail(Component):
    """The audit policy and the API server's flags as an immutable ConfigMap, named by its content.

    Kubernetes cannot change how its own API server was started: the files go to the control-plane nodes by whoever
    installs these, and the running cluster is verified against `policy_sha256`.
    """

    TOKEN: ClassVar[str] = "lantau:audit:AuditTrail"

    policy_sha256: str
    """SHA-256 of the policy file, hexadecimal."""
    config_map_name: str
    config_map: k8s.core.v1.ConfigMap

    def __init__(self, name: str, args: AuditTrailArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        files = installation_files(args.hot_days)
        content = hashlib.sha256("\0".join(part for file in sorted(files.items()) for part in file).encode())
        self.policy_sha256 = policy_sha256()
        self.config_map_name = f"audit-policy-{content.hexdigest()[:8]}"
        self.config_map = k8s.core.v1.ConfigMap(
            f"{name}-policy",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=self.config_map_name,
                namespace=NAMESPACE_SYSTEM,
                labels=standard_labels("audit-policy", instance=self.config_map_name, tier="audit"),
                annotations={f"{PREFIX}/policy-sha256": self.policy_sha256}
                # Whoever sets the archive's lock up, or audits it, reads it here.
                | ({f"{PREFIX}/archive-days": str(args.archive_days)} if args.archive_days else {}),
            ),
            data=files,
            immutable=True,
            opts=self.child(),
        )
        self.finish({"policy_sha256": self.policy_sha256, "config_map": self.config_map_name})

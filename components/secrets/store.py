"""The way from one namespace to the managed store: an account, a role, and nothing that could be stolen and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.custom import custom_resource
from components.secrets import kinds
from lantau.labels import standard_labels
from lantau.stack import SecretStore

READER: Final = "secrets-reader"
"""ServiceAccount whose token is exchanged for the role."""
STORE: Final = "managed"
"""SecretStore of every namespace that gets keys."""
AUDIENCE: Final = "sts.amazonaws.com"
READY_WITHIN: Final = "5m"


def role_arn(stack_name: str, store: SecretStore, tier: str) -> str:
    """The role that may read the keys of one tier of one stack, and no others."""
    return f"arn:aws:iam::{store.account}:role/lantau-{stack_name}-{tier}"


@dataclass(frozen=True)
class NamespaceStoreArgs:
    """Which keys a namespace may read: those of `tier` in stack `stack_name`."""

    stack_name: str
    store: SecretStore
    tier: str
    namespace: str


class NamespaceStore(Component):
    """ServiceAccount and SecretStore through which External Secrets reads the store for one namespace."""

    TOKEN: ClassVar[str] = "lantau:secrets:NamespaceStore"

    account: k8s.core.v1.ServiceAccount
    secret_store: k8s.apiextensions.CustomResource
    role: str
    """ARN of the role."""

    def __init__(self, name: str, args: NamespaceStoreArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.role = role_arn(args.stack_name, args.store, args.tier)
        self.account = k8s.core.v1.ServiceAccount(
            f"{name}-reader",
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=READER,
                namespace=args.namespace,
                labels=standard_labels(READER, instance=READER, tier=args.tier),
                # The controller takes the role from here; a `role` on the store would be assumed a second time.
                annotations={"eks.amazonaws.com/audience": AUDIENCE, "eks.amazonaws.com/role-arn": self.role},
            ),
            automount_service_account_token=False,
            opts=self.child(),
        )
        self.secret_store = custom_resource(
            f"{name}-store",
            kinds.SecretStoreSpec(
                provider=kinds.StoreProvider(
                    aws=kinds.AwsProvider(
                        region=args.store.region,
                        auth=kinds.AwsAuth(
                            jwt=kinds.JwtAuth(service_account_ref=kinds.ServiceAccountRef(name=READER)),
                        ),
                    )
                )
            ),
            name=STORE,
            namespace=args.namespace,
            labels=standard_labels(STORE, instance=STORE, tier=args.tier),
            annotations={"pulumi.com/waitFor": "condition=Ready"},
            opts=self.child(depends_on=[self.account], timeout=READY_WITHIN),
        )
        self.finish({"role": self.role})

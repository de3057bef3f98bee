"""Keys that are made in the managed store and never leave it through Pulumi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pulumi

from components.base import Component
from components.provider_sdk import ManagedSecret, RandomField, SecretField
from components.secrets.delivery import RemoteField
from lantau.labels import TIER_LABEL
from lantau.stack import SecretStore


def remote_name(stack_name: str, tier: str, key: str) -> str:
    """Name of a managed key in the store."""
    return f"lantau/{stack_name}/{tier}/{key}"


@dataclass(frozen=True)
class ManagedKeyArgs:
    """One secret of the store.

    `fields` maps each field to the length of its random value in characters, or says more about it (`RandomField` with
    a prefix, or kept through rotations; `FixedField` for a companion that is no secret).
    """

    stack_name: str
    store: SecretStore
    protect: bool
    tier: str
    key: str
    description: str
    fields: Mapping[str, int | SecretField]


class ManagedKey(Component):
    """A secret with random values, made inside the store; Pulumi's state holds its ARN and version only."""

    TOKEN: ClassVar[str] = "lantau:secrets:ManagedKey"

    remote_name: str
    secret: ManagedSecret

    def __init__(self, name: str, args: ManagedKeyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.remote_name = remote_name(args.stack_name, args.tier, args.key)
        self._fields = tuple(sorted(args.fields))
        self.secret = ManagedSecret(
            f"{name}-secret",
            name=self.remote_name,
            description=args.description,
            fields={
                field: RandomField(length=shape) if isinstance(shape, int) else shape
                for field, shape in args.fields.items()
            },
            epoch=args.store.epoch,
            recovery_days=args.store.recovery_days,
            tags={TIER_LABEL: args.tier},
            opts=self.child(protect=args.protect),
        )
        self.finish({"remote_name": self.remote_name})

    def field(self, name: str) -> RemoteField:
        """One field of this key, for a delivery. Raises ValueError for a field that the key does not have."""
        if name not in self._fields:
            raise ValueError(f'{self.remote_name} has no field "{name}"; it has {", ".join(self._fields)}')
        return RemoteField(self.remote_name, name)

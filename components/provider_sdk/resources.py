"""Provider and resources. Inputs are plain values, so that a preview and the policies see all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pulumi


class LantauProvider(pulumi.ProviderResource):
    """Where the resources act. Credentials come from the environment of whoever runs the program."""

    def __init__(
        self,
        resource_name: str,
        *,
        context: str | None = None,
        region: str | None = None,
        stack: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`context`: kubeconfig context, needed for node taints. `region`: AWS region, the environment's when None.
        `stack`: owner of what is made; every secret's name begins with `lantau/<stack>/`.
        """
        props = {"context": context, "region": region, "stack": stack}
        super().__init__("lantau", resource_name, {key: value for key, value in props.items() if value}, opts)


@dataclass(frozen=True)
class RandomField:
    """A field whose value the provider makes; nobody else ever sees it but the store's readers."""

    length: int = 48
    """Random characters without the prefix; at least as many as carry 128 bits, at most 256."""
    alphabet: Literal["alphanumeric", "hex", "urlsafe"] = "alphanumeric"
    prefix: str = ""
    """Up to 24 fixed characters in front, by which a scanner knows a leaked key for ours."""
    rotate: bool = True
    """False keeps the value through new epochs, for what data at rest depends on."""

    def to_input(self) -> dict[str, str | int | bool]:
        """As the provider reads it."""
        return {
            "kind": "random",
            "length": self.length,
            "alphabet": self.alphabet,
            "prefix": self.prefix,
            "rotate": self.rotate,
        }


@dataclass(frozen=True)
class FixedField:
    """A companion of the generated fields that is no secret, such as a user name. It stands in state."""

    value: str

    def to_input(self) -> dict[str, str | int | bool]:
        """As the provider reads it."""
        return {"kind": "fixed", "value": self.value}


SecretField = RandomField | FixedField


class ManagedSecret(pulumi.CustomResource):
    """A JSON object in AWS Secrets Manager. Its id is the ARN; no output holds a value.

    Deleting it schedules the deletion; declaring it again within `recovery_days` restores it with its value.
    """

    arn: pulumi.Output[str]
    """ARN of the secret."""
    name: pulumi.Output[str]
    """Name in the store."""
    region: pulumi.Output[str]
    """Region that holds it."""
    epoch: pulumi.Output[int]
    """Rotation epoch."""

    def __init__(
        self,
        resource_name: str,
        *,
        name: str,
        description: str,
        fields: Mapping[str, SecretField],
        epoch: int = 1,
        recovery_days: int = 30,
        tags: Mapping[str, str] | None = None,
        kms_key_id: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`name`: `lantau/<stack>/<tier>/<name>`; another name makes another secret. `epoch`: a higher one makes new
        values, the last ones stay readable as AWSPREVIOUS. `recovery_days`: 7 to 30.
        """
        props = {
            "name": name,
            "description": description,
            "fields": {key: field.to_input() for key, field in sorted(fields.items())},
            "epoch": epoch,
            "recoveryDays": recovery_days,
            "tags": dict(sorted((tags or {}).items())),
            "kmsKeyId": kms_key_id,
            "arn": None,
            "region": None,
            "versionId": None,
            "previousVersionId": None,
            "systemTags": None,
        }
        super().__init__("lantau:index:ManagedSecret", resource_name, props, opts)

    @property
    def version_id(self) -> pulumi.Output[str]:
        """Id of the current version."""
        return _output(self, "versionId")

    @property
    def previous_version_id(self) -> pulumi.Output[str]:
        """Id of the version that is valid beside it during overlap; empty before the first rotation."""
        return _output(self, "previousVersionId")


class NodeTaint(pulumi.CustomResource):
    """One taint of one node, changed under the node's resourceVersion; every other taint is left alone.

    A taint that was there before is taken as it is and left there on delete.
    """

    node: pulumi.Output[str]
    key: pulumi.Output[str]
    value: pulumi.Output[str]
    effect: pulumi.Output[str]
    found: pulumi.Output[bool]
    """Whether the taint was there before."""

    def __init__(
        self,
        resource_name: str,
        *,
        node: str,
        key: str,
        value: str = "",
        effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule",
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`value` is changed in place; node, key and effect make another taint."""
        props = {"node": node, "key": key, "value": value, "effect": effect, "clusterUid": None, "found": None}
        super().__init__("lantau:index:NodeTaint", resource_name, props, opts)

    @property
    def cluster_uid(self) -> pulumi.Output[str]:
        """UID of the kube-system namespace of the node's cluster."""
        return _output(self, "clusterUid")


def _output(resource: pulumi.Resource, name: str) -> pulumi.Output[Any]:
    # Properties keep the provider's names: a translation by the SDK would reach the keys of fields and tags as well.
    value: pulumi.Output[Any] = pulumi.get(resource, name)
    return value

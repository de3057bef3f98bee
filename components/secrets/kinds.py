"""External Secrets' kinds as far as they are used here (`external-secrets.io/v1`)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from components.custom import CustomSpec, Spec

API_VERSION = "external-secrets.io/v1"


class ServiceAccountRef(Spec):
    """The account whose token is exchanged; a SecretStore may only name one of its own namespace."""

    name: str


class JwtAuth(Spec):
    """Authentication by a service account's token."""

    service_account_ref: ServiceAccountRef


class AwsAuth(Spec):
    """How the controller proves to AWS who it is; there is no way to name a static key here."""

    jwt: JwtAuth


class AwsProvider(Spec):
    """AWS Secrets Manager of one region."""

    service: Literal["SecretsManager"] = "SecretsManager"
    region: str
    auth: AwsAuth


class StoreProvider(Spec):
    """Exactly one provider."""

    aws: AwsProvider


class SecretStoreSpec(CustomSpec):
    """A store that only its own namespace can read through."""

    API_VERSION: ClassVar[str] = API_VERSION
    KIND: ClassVar[str] = "SecretStore"

    provider: StoreProvider


class StoreRef(Spec):
    """A SecretStore of the same namespace."""

    name: str
    kind: Literal["SecretStore"] = "SecretStore"


class RemoteRef(Spec):
    """One field of a secret in the store. The defaults are the server's own, so that nothing drifts."""

    key: str
    property: str
    conversion_strategy: Literal["Default"] = "Default"
    decoding_strategy: Literal["None"] = "None"
    metadata_policy: Literal["None"] = "None"


class SecretData(Spec):
    """A template variable and where its value comes from."""

    secret_key: str
    remote_ref: RemoteRef


class Template(Spec):
    """Files of the Secret, as templates."""

    engine_version: Literal["v2"] = "v2"
    merge_policy: Literal["Replace"] = "Replace"
    type: Literal["Opaque"] = "Opaque"
    data: dict[str, str]


class Target(Spec):
    """The Secret that is made: it goes with the ExternalSecret, and stays when the store loses the key."""

    name: str
    creation_policy: Literal["Owner"] = "Owner"
    deletion_policy: Literal["Retain"] = "Retain"
    template: Template


class ExternalSecretSpec(CustomSpec):
    """A Secret that follows the store."""

    API_VERSION: ClassVar[str] = API_VERSION
    KIND: ClassVar[str] = "ExternalSecret"

    refresh_policy: Literal["Periodic"] = "Periodic"
    refresh_interval: str
    secret_store_ref: StoreRef
    target: Target
    data: list[SecretData] = Field(min_length=1)

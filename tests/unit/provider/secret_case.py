"""A secret of the tests: what is declared, and what the store then holds."""

import json
from typing import Any

import boto3

from provider.store.resource import ManagedSecret
from provider.values import Plain

NAME = "lantau/dev/vector/qdrant"
URN = "urn:pulumi:dev::lantau::lantau:index:ManagedSecret::qdrant"


def aws_client() -> Any:
    return boto3.client("secretsmanager", region_name="ap-east-1")


def value(stage: str = "AWSCURRENT", name: str = NAME) -> dict[str, str]:
    found: dict[str, str] = json.loads(aws_client().get_secret_value(SecretId=name, VersionStage=stage)["SecretString"])
    return found


def inputs(kind: ManagedSecret, olds: Plain | None = None, **changes: Any) -> Plain:
    given = {
        "name": NAME,
        "description": "key of the vector store",
        "fields": {"api-key": {"kind": "random"}},
        **changes,
    }
    checked, failures = kind.check(URN, olds or {}, given)
    assert not failures, [(failure.property, failure.reason) for failure in failures]
    return checked

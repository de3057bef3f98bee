"""KEY-05."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.key_manifests import secret
from tests.policy.manifests import listed
from tests.policy.samples import CERTIFICATE, PEM, WORD, b64, some


@pytest.mark.parametrize(
    "manifest",
    [
        secret(password=WORD),
        secret("data", password=b64(WORD)),
        secret("data", a=""),
        secret("data", password=b64(WORD), empty=""),
        listed(secret(password=WORD)),
        secret(password="word"),
        secret(password=UNKNOWN),
    ],
)
def test_a_secret_in_the_program_is_refused(manifest: dict[str, Any]) -> None:
    empty = manifest.get("data") == {"a": ""}
    assert fires("KEY-05", manifest) is not empty


@pytest.mark.parametrize(
    "manifest",
    [
        secret(),
        secret("data", password=""),
        secret(password="<path:secret/data/app#password>"),
        secret(password=f"ENC[AES256_GCM,data:{some(20)},iv:{some(20)},tag:{some(20)},type:str]"),
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": {"name": "db"},
            "spec": {
                "secretStoreRef": {"name": "aws"},
                "target": {"name": "db", "template": {"data": {"password": "{{ .password }}"}}},
                "data": [{"secretKey": "password", "remoteRef": {"key": "prod/db", "property": "password"}}],
            },
        },
        {
            "apiVersion": "bitnami.com/v1alpha1",
            "kind": "SealedSecret",
            "metadata": {"name": "db"},
            "spec": {"encryptedData": {"password": "Ag" + some(400)}},
        },
        {
            "apiVersion": "secrets-store.csi.x-k8s.io/v1",
            "kind": "SecretProviderClass",
            "metadata": {"name": "db"},
            "spec": {"parameters": {"objects": "- objectName: db-password\n  objectAlias: password\n"}},
        },
    ],
)
def test_a_delivered_secret_passes(manifest: dict[str, Any]) -> None:
    assert all(clean(f"KEY-{n:02}", manifest) for n in range(1, 10))


def test_an_unknown_secret_is_left_to_the_update() -> None:
    assert judge("KEY-05", {**secret(), "stringData": UNKNOWN}).unjudged


def test_a_public_certificate_is_no_secret() -> None:
    assert clean("KEY-05", secret("data", **{"ca.crt": b64(CERTIFICATE)}))
    assert fires("KEY-05", secret("data", **{"ca.crt": b64(CERTIFICATE), "tls.key": b64(PEM)}))

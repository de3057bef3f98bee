"""The vector store's backup: when it runs, as whom, and what it can reach."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from pydantic import ValidationError

from components.secrets import RemoteField
from components.vector import VectorBackup, VectorBackupArgs, VectorStore, VectorStoreArgs
from components.vector.backup import SCRIPT
from lantau.platform import Platform
from lantau.stack import VectorBackup as Wanted
from tests.unit.components.business_stacks import Changes, platform, previewed
from tests.unit.components.recording import Recorded, Resource, record

NAMESPACE = "lantau-vector"
IMAGE = f"registry.example.internal/vector/backup@sha256:{'0' * 64}"
BACKUP = {"image": IMAGE, "bucket": "example-vectors", "addresses": ["10.20.30.0/28", "fd00:1::/64"]}
WITH: Changes = {"vector": {"replicas": 3, "backup": BACKUP}}


def recorded(changes: Changes | None = WITH) -> Recorded:
    return previewed(_program, changes)


def _program(found: Platform) -> object:
    return VectorStore("vector", VectorStoreArgs(found))


def cron_job() -> Resource:
    return recorded().kubernetes("CronJob", "qdrant-backup", NAMESPACE)


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = cron_job().inputs["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return spec


def environment() -> dict[str, str]:
    (container,) = pod()["containers"]
    return {each["name"]: each["value"] for each in container["env"]}


def test_a_stack_that_asks_for_none_has_none() -> None:
    assert not recorded(None).of_type("kubernetes:batch/v1:CronJob")
    args = VectorBackupArgs(platform(), Mock(**{"field.return_value": RemoteField("lantau/x/vector/api-key", "key")}))
    with pytest.raises(ValueError, match=r"vector\.backup: the stack asks for no backup"):
        record(lambda: VectorBackup("backup", args))


def test_it_is_a_component_of_the_store() -> None:
    component = recorded().one(VectorBackup.TOKEN)
    assert component.parent == recorded().one(VectorStore.TOKEN).urn


def test_it_runs_each_night_of_hong_kong_and_never_twice_at_once() -> None:
    spec = cron_job().inputs["spec"]
    assert (spec["schedule"], spec["timeZone"], spec["concurrencyPolicy"]) == (
        "30 3 * * *",
        "Asia/Hong_Kong",
        "Forbid",
    )


def test_every_peer_is_asked_by_itself() -> None:
    assert environment()["PEERS"].split(",") == [
        f"http://qdrant-{ordinal}.qdrant-peers.lantau-vector.svc:6333" for ordinal in range(3)
    ]


def test_no_key_is_in_its_environment_and_its_token_is_for_one_service_and_an_hour() -> None:
    assert environment()["API_KEY_FILE"] == "/run/secrets/lantau/api-key"
    assert environment()["AWS_ROLE_ARN"].endswith(":role/lantau-sandbox-qdrant-backup")
    (token,) = (each for each in pod()["volumes"] if each["name"] == "token")
    (source,) = token["projected"]["sources"]
    assert source["serviceAccountToken"] == {
        "audience": "sts.amazonaws.com",
        "expirationSeconds": 3600,
        "path": "token",
    }
    assert environment()["AWS_WEB_IDENTITY_TOKEN_FILE"] == "/run/secrets/sts/token"


def test_it_has_an_account_of_its_own_that_mounts_no_token_of_the_cluster() -> None:
    assert pod()["serviceAccountName"] == "qdrant-backup"
    assert pod()["automountServiceAccountToken"] is False
    account = recorded().kubernetes("ServiceAccount", "qdrant-backup", NAMESPACE)
    assert account.inputs["automountServiceAccountToken"] is False


def test_it_reaches_the_store_and_the_named_addresses_and_nothing_else() -> None:
    labels = cron_job().inputs["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    mine = [
        each.inputs["spec"]
        for each in recorded().of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
        if (selector := each.inputs["spec"]["podSelector"]["matchLabels"]) and selector.items() <= labels.items()
    ]
    ways = [
        (peer.get("ipBlock", {}).get("cidr") or peer["podSelector"]["matchLabels"]["app.kubernetes.io/name"], port)
        for spec in mine
        for rule in spec["egress"]
        for peer in rule["to"]
        for port in [entry["port"] for entry in rule["ports"]]
    ]
    assert sorted(ways) == [("10.20.30.0/28", 443), ("fd00:1::/64", 443), ("qdrant", 6333)]
    assert not any(spec.get("ingress") for spec in mine)


def test_the_store_lets_it_in_and_the_service_never_leads_to_it() -> None:
    spec = recorded().kubernetes("NetworkPolicy", "qdrant-from-backup", NAMESPACE).inputs["spec"]
    (peer,) = spec["ingress"][0]["from"]
    labels = cron_job().inputs["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert peer["podSelector"]["matchLabels"].items() <= labels.items()
    selector = recorded().kubernetes("Service", "qdrant", NAMESPACE).inputs["spec"]["selector"]
    assert not selector.items() <= labels.items()


def test_the_script_is_the_one_that_is_tested() -> None:
    (volume,) = (each for each in pod()["volumes"] if each["name"] == "script")
    config = recorded().kubernetes("ConfigMap", volume["configMap"]["name"], NAMESPACE)
    assert config.inputs["data"] == {"snapshots.py": SCRIPT.read_text(encoding="utf-8")}
    assert config.inputs["immutable"] is True
    (container,) = pod()["containers"]
    assert [*container["command"], *container["args"]] == ["python3", "/etc/lantau/snapshots.py", "backup"]


def test_its_key_is_delivered_before_it_runs() -> None:
    (volume,) = (each for each in pod()["volumes"] if each["name"] == "key")
    delivery = recorded().kubernetes("ExternalSecret", volume["secret"]["secretName"], NAMESPACE)
    assert delivery.urn in cron_job().depends_on


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"addresses": ["0.0.0.0/0"]}, "wider than /16"),
        ({"addresses": ["10.0.0.0/8"]}, "wider than /16"),
        ({"addresses": ["::/0"]}, "wider than /48"),
        ({"addresses": ["10.20.30.1/28"]}, r"its other bits 0"),
        ({"addresses": ["bucket.example.com"]}, "must be a block of addresses"),
        ({"addresses": []}, "at least 1 item"),
        ({"schedule": "@daily"}, "pattern"),
        ({"bucket": "Upper"}, "pattern"),
    ],
)
def test_what_would_open_too_much_or_never_run_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Wanted.model_validate(BACKUP | change)

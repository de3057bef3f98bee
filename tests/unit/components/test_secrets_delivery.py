"""Delivery of keys as files."""

from __future__ import annotations

import pytest

from components.secrets import Delivery, DeliveryArgs, RemoteField
from components.secrets.delivery import go_duration, template_variables
from tests.unit.components.recording import record

KEY = RemoteField("lantau/hk-prod/vector/api-key", "api_key")
EXTERNAL_SECRET = "kubernetes:external-secrets.io/v1:ExternalSecret"


def delivery(files: dict[str, str], values: dict[str, RemoteField], refresh: str = "1h") -> DeliveryArgs:
    return DeliveryArgs("lantau-vector", "qdrant-config", files, values, refresh)


def test_a_key_becomes_a_file_of_a_secret_that_others_make() -> None:
    args = delivery({"local.yaml": "api_key: {{ .api_key }}\n"}, {"api_key": KEY})
    made = record(lambda: Delivery("qdrant-config", args), preview=True)
    assert not made.of_type("kubernetes:core/v1:Secret")
    assert made.one(EXTERNAL_SECRET).inputs["spec"] == {
        "refreshPolicy": "Periodic",
        "refreshInterval": "1h0m0s",
        "secretStoreRef": {"kind": "SecretStore", "name": "managed"},
        "target": {
            "name": "qdrant-config",
            "creationPolicy": "Owner",
            "deletionPolicy": "Retain",
            "template": {
                "engineVersion": "v2",
                "mergePolicy": "Replace",
                "type": "Opaque",
                "data": {"local.yaml": "api_key: {{ .api_key }}\n"},
            },
        },
        "data": [
            {
                "secretKey": "api_key",
                "remoteRef": {
                    "key": KEY.remote_name,
                    "property": "api_key",
                    "conversionStrategy": "Default",
                    "decodingStrategy": "None",
                    "metadataPolicy": "None",
                },
            }
        ],
    }
    assert made.result.secret_name == "qdrant-config"
    assert made.outputs_registered[made.one("lantau:secrets:Delivery").urn] == {"secret_name": "qdrant-config"}


def test_a_key_that_does_not_arrive_fails_the_update_within_minutes() -> None:
    args = delivery({"key": "{{ .api_key }}"}, {"api_key": KEY})
    secret = record(lambda: Delivery("qdrant-config", args)).one(EXTERNAL_SECRET)
    assert secret.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Ready"}
    assert secret.timeouts.create == "5m"


def test_a_value_that_no_file_uses_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no file uses other; write \{\{ \.other \}\} or leave it out"):
        delivery({"key": "{{ .api_key }}"}, {"api_key": KEY, "other": KEY})


def test_a_variable_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="qdrant-config: no value is given for apikey; known are api_key"):
        delivery({"a": "{{ .api_key }}", "b": "{{ .apikey }}"}, {"api_key": KEY})


def test_a_name_that_templates_cannot_read_is_refused() -> None:
    with pytest.raises(ValueError, match='"api-key" cannot be a template variable'):
        delivery({"a": '{{ index . "api-key" }}'}, {"api-key": KEY})


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("user default on >{{ .password }} ~*", {"password"}),
        ('{{- .a | b64enc -}}{{ printf "%s" .b }}', {"a", "b"}),
        ("{{ sha256sum (.a) }}", {"a"}),
        ("{{ .Values.x }}", {"Values"}),
        ("no.action .here", set()),
        ("{{ 1.5 }}", set()),
    ],
)
def test_variables_of_a_template_are_found(text: str, variables: set[str]) -> None:
    assert template_variables(text) == variables


@pytest.mark.parametrize(
    ("given", "written"),
    [("1h", "1h0m0s"), ("90s", "1m30s"), ("30m", "30m0s"), ("45s", "45s"), ("1h30m", "1h30m0s"), ("3600s", "1h0m0s")],
)
def test_a_duration_is_written_as_the_server_writes_it(given: str, written: str) -> None:
    assert go_duration(given) == written


@pytest.mark.parametrize("given", ["", "0s", "1", "1d", "-1h", "1h ", "hourly"])
def test_what_is_no_duration_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r"write for example 1h, 30m or 90s"):
        delivery({"key": "{{ .api_key }}"}, {"api_key": KEY}, given)

"""KEY-09."""

from typing import Any

import pytest

from tests.policy.harness import clean, fires
from tests.policy.key_manifests import HELM, config_map, release
from tests.policy.manifests import pod
from tests.policy.samples import SHAPED, URLS, WORD, some


@pytest.mark.parametrize(
    "values",
    [
        {"auth": {"password": WORD}},
        {"global": {"redis": {"password": WORD}}},
        {"config": f"requirepass {WORD}\n"},
        {"users": [{"name": "app", "password": WORD}]},
        *({"note": value} for value in [*SHAPED, *URLS]),
    ],
)
def test_a_key_in_chart_values_or_a_custom_resource_is_found(values: dict[str, Any]) -> None:
    assert fires("KEY-09", release(**values), token=HELM)
    assert fires("KEY-09", {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": values})


@pytest.mark.parametrize(
    "values",
    [
        {"auth": {"existingSecret": "redis-auth", "existingSecretPasswordKey": "redis-password"}},
        {"auth": {"password": ""}, "tokens": 3, "maxTokens": 100},
        {"image": {"pullSecrets": ["regcred"]}, "tls": {"secretName": "app-tls"}},
    ],
)
def test_clean_chart_values_pass(values: dict[str, Any]) -> None:
    assert clean("KEY-09", release(**values), token=HELM)


def test_a_key_in_the_name_of_an_entry_is_found() -> None:
    token = "gh" + "p_" + some(36)
    assert fires("KEY-02", config_map(token, "x"))
    assert fires("KEY-04", pod(labels={token: "x"}))
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {token: 1}}
    assert fires("KEY-09", thing)


def test_only_sealed_secrets_may_carry_sealed_data() -> None:
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
    assert fires("KEY-09", {**thing, "spec": {"encryptedData": {"password": WORD}}})
    assert fires("KEY-09", {**thing, "sops": {"password": WORD}})

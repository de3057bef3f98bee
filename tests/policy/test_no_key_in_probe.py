"""KEY-06."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import container, pod, pod_spec
from tests.policy.samples import WORD, some


@pytest.mark.parametrize(
    "probe",
    [
        {"readinessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": f"Bearer {some(40)}"}]}}},
        {"livenessProbe": {"exec": {"command": ["redis-cli", "-a", WORD, "ping"]}}},
        {"lifecycle": {"postStart": {"exec": {"command": ["sh", "-c", f"curl -u admin:{WORD} https://example.com"]}}}},
    ],
)
def test_a_key_in_a_probe_or_hook_is_found(probe: dict[str, Any]) -> None:
    assert fires("KEY-06", pod(pod_spec(containers=[container(**probe)])))


@pytest.mark.parametrize(
    "probe",
    [
        {
            "readinessProbe": {
                "httpGet": {"path": "/healthz", "httpHeaders": [{"name": "Accept", "value": "text/plain"}]}
            }
        },
        {"livenessProbe": {"exec": {"command": ["sh", "-c", 'redis-cli -a "$REDIS_PASSWORD" ping']}}},
    ],
)
def test_a_clean_probe_passes(probe: dict[str, Any]) -> None:
    assert clean("KEY-06", pod(pod_spec(containers=[container(**probe)])))


def test_an_unknown_header_is_left_to_the_update() -> None:
    probe = {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": UNKNOWN}]}}
    assert judge("KEY-06", pod(pod_spec(containers=[container(readinessProbe=probe)]))).unjudged

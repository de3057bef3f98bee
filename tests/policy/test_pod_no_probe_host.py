"""PSS-16."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec

BAD = [
    pod_spec(containers=[container(livenessProbe={"httpGet": {"host": "169.254.169.254", "port": 80}})]),
    pod_spec(containers=[container(startupProbe={"tcpSocket": {"host": "10.0.0.1", "port": 80}})]),
    pod_spec(initContainers=[container(lifecycle={"preStop": {"httpGet": {"host": "x", "port": 80}}})]),
]
GOOD = [
    pod_spec(containers=[container(readinessProbe={"httpGet": {"path": "/", "port": 80}})]),
    pod_spec(containers=[container(readinessProbe={"httpGet": {"host": "", "port": 80}})]),
]


@pytest.mark.parametrize("spec", BAD)
def test_the_pod_is_refused(spec: dict[str, Any]) -> None:
    assert fires("PSS-16", pod(spec))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("PSS-16", hold(BAD[0]))
    assert clean("PSS-16", hold(pod_spec()))


@pytest.mark.parametrize("spec", GOOD)
def test_a_restricted_pod_passes(spec: dict[str, Any]) -> None:
    assert clean("PSS-16", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge(
        "PSS-16", pod(pod_spec(containers=[container(readinessProbe={"httpGet": {"host": UNKNOWN, "port": 80}})]))
    )
    assert outcome.unjudged
    assert not outcome.messages


def test_an_unknown_container_hides_no_other() -> None:
    bad = BAD[0]
    outcome = judge("PSS-16", pod({**bad, "initContainers": [UNKNOWN, *bad.get("initContainers", [])]}))
    assert outcome.messages
    assert outcome.unjudged

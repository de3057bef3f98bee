"""PSS-13."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec

BAD = [
    pod_spec(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
    pod_spec(
        securityContext={
            "sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}, {"name": "net.core.somaxconn", "value": "1"}]
        }
    ),
]
GOOD = [
    pod_spec(securityContext={"sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "80"}]}),
    pod_spec(),
]


@pytest.mark.parametrize("spec", BAD)
def test_the_pod_is_refused(spec: dict[str, Any]) -> None:
    assert fires("PSS-13", pod(spec))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("PSS-13", hold(BAD[0]))
    assert clean("PSS-13", hold(pod_spec()))


@pytest.mark.parametrize("spec", GOOD)
def test_a_restricted_pod_passes(spec: dict[str, Any]) -> None:
    assert clean("PSS-13", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("PSS-13", pod(pod_spec(securityContext={"sysctls": [{"name": UNKNOWN, "value": "1"}]})))
    assert outcome.unjudged
    assert not outcome.messages


def test_an_unknown_container_hides_no_other() -> None:
    bad = BAD[0]
    outcome = judge("PSS-13", pod({**bad, "initContainers": [UNKNOWN, *bad.get("initContainers", [])]}))
    assert outcome.messages
    assert outcome.unjudged

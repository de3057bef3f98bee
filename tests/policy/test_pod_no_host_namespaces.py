"""PSS-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec

BAD = [
    pod_spec(hostPID=True),
    pod_spec(hostIPC=True),
    pod_spec(hostNetwork=True),
]
GOOD = [
    pod_spec(hostPID=False, hostIPC=False, hostNetwork=False),
    pod_spec(hostUsers=False),
]


@pytest.mark.parametrize("spec", BAD)
def test_the_pod_is_refused(spec: dict[str, Any]) -> None:
    assert fires("PSS-02", pod(spec))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("PSS-02", hold(BAD[0]))
    assert clean("PSS-02", hold(pod_spec()))


@pytest.mark.parametrize("spec", GOOD)
def test_a_restricted_pod_passes(spec: dict[str, Any]) -> None:
    assert clean("PSS-02", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("PSS-02", pod(pod_spec(hostNetwork=UNKNOWN)))
    assert outcome.unjudged
    assert not outcome.messages


def test_an_unknown_container_hides_no_other() -> None:
    bad = BAD[0]
    outcome = judge("PSS-02", pod({**bad, "initContainers": [UNKNOWN, *bad.get("initContainers", [])]}))
    assert outcome.messages
    assert outcome.unjudged

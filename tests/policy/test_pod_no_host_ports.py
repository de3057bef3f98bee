"""PSS-04."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec

BAD = [
    pod_spec(containers=[container(ports=[{"containerPort": 81, "hostPort": 81}])]),
    pod_spec(initContainers=[container(ports=[{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}])]),
]
GOOD = [
    pod_spec(containers=[container(ports=[{"containerPort": 80, "hostPort": 0}])]),
    pod_spec(containers=[container(ports=[{"containerPort": 80}])]),
]


@pytest.mark.parametrize("spec", BAD)
def test_the_pod_is_refused(spec: dict[str, Any]) -> None:
    assert fires("PSS-04", pod(spec))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("PSS-04", hold(BAD[0]))
    assert clean("PSS-04", hold(pod_spec()))


@pytest.mark.parametrize("spec", GOOD)
def test_a_restricted_pod_passes(spec: dict[str, Any]) -> None:
    assert clean("PSS-04", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("PSS-04", pod(pod_spec(containers=[container(ports=[{"containerPort": 80, "hostPort": UNKNOWN}])])))
    assert outcome.unjudged
    assert not outcome.messages


def test_an_unknown_container_hides_no_other() -> None:
    bad = BAD[0]
    outcome = judge("PSS-04", pod({**bad, "initContainers": [UNKNOWN, *bad.get("initContainers", [])]}))
    assert outcome.messages
    assert outcome.unjudged

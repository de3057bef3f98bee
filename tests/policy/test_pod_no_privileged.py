"""PSS-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec


def with_context(**context: Any) -> dict[str, Any]:
    """A container with these fields on top of its restricted security context."""
    return {**container(), "securityContext": {**container()["securityContext"], **context}}


BAD = [
    pod_spec(containers=[with_context(privileged=True)]),
    pod_spec(initContainers=[with_context(privileged=True)]),
    pod_spec(ephemeralContainers=[container("ok"), with_context(privileged=True)]),
]
GOOD = [
    pod_spec(containers=[with_context(privileged=False)]),
    pod_spec(),
]


@pytest.mark.parametrize("spec", BAD)
def test_the_pod_is_refused(spec: dict[str, Any]) -> None:
    assert fires("PSS-01", pod(spec))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("PSS-01", hold(BAD[0]))
    assert clean("PSS-01", hold(pod_spec()))


@pytest.mark.parametrize("spec", GOOD)
def test_a_restricted_pod_passes(spec: dict[str, Any]) -> None:
    assert clean("PSS-01", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("PSS-01", pod(pod_spec(containers=[with_context(privileged=UNKNOWN)])))
    assert outcome.unjudged
    assert not outcome.messages


def test_an_unknown_container_hides_no_other() -> None:
    bad = BAD[0]
    outcome = judge("PSS-01", pod({**bad, "initContainers": [UNKNOWN, *bad.get("initContainers", [])]}))
    assert outcome.messages
    assert outcome.unjudged

"""PSS-09."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec


def with_context(**context: Any) -> dict[str, Any]:
    """A container with these fields on top of its restricted security context."""
    return {**container(), "securityContext": {**container()["securityContext"], **context}}


BAD = [
    pod_spec(securityContext={"runAsNonRoot": True}),
    pod_spec(securityContext={"seccompProfile": {"type": "Unconfined"}}),
    pod_spec(containers=[with_context(seccompProfile={"type": "Unconfined"})]),
    pod_spec(
        securityContext={},
        containers=[with_context(seccompProfile={"type": "RuntimeDefault"})],
        initContainers=[container()],
    ),
]
GOOD = [
    pod_spec(),
    pod_spec(securityContext={"seccompProfile": {"type": "Localhost", "localhostProfile": "x.json"}}),
    pod_spec(securityContext={}, containers=[with_context(seccompProfile={"type": "RuntimeDefault"})]),
    pod_spec(securityContext={}, os={"name": "windows"}),
]


@pytest.mark.parametrize("spec", BAD)
def test_the_pod_is_refused(spec: dict[str, Any]) -> None:
    assert fires("PSS-09", pod(spec))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("PSS-09", hold(BAD[0]))
    assert clean("PSS-09", hold(pod_spec()))


@pytest.mark.parametrize("spec", GOOD)
def test_a_restricted_pod_passes(spec: dict[str, Any]) -> None:
    assert clean("PSS-09", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("PSS-09", pod(pod_spec(securityContext={"seccompProfile": {"type": UNKNOWN}})))
    assert outcome.unjudged
    assert not outcome.messages


def test_an_unknown_container_hides_no_other() -> None:
    bad = BAD[0]
    outcome = judge("PSS-09", pod({**bad, "initContainers": [UNKNOWN, *bad.get("initContainers", [])]}))
    assert outcome.messages
    assert outcome.unjudged


def test_an_annotation_is_no_profile() -> None:
    annotations = {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}
    assert fires("PSS-09", pod(pod_spec(securityContext={}), annotations=annotations))

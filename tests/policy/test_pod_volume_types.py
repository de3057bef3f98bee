"""PSS-14."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec

BAD = [
    pod_spec(volumes=[{"name": "x", "nfs": {"server": "x", "path": "/"}}]),
    pod_spec(volumes=[{"name": "a", "emptyDir": {}}, {"name": "x", "gitRepo": {"repository": "x"}}]),
]
GOOD = [
    pod_spec(
        volumes=[
            {"name": "a", "emptyDir": {}},
            {"name": "b", "configMap": {"name": "b"}},
            {"name": "c", "csi": {"driver": "x"}},
            {"name": "d", "image": {"reference": "x"}},
            {"name": "e", "projected": {"sources": []}},
        ]
    ),
]


@pytest.mark.parametrize("spec", BAD)
def test_the_pod_is_refused(spec: dict[str, Any]) -> None:
    assert fires("PSS-14", pod(spec))


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("PSS-14", hold(BAD[0]))
    assert clean("PSS-14", hold(pod_spec()))


@pytest.mark.parametrize("spec", GOOD)
def test_a_restricted_pod_passes(spec: dict[str, Any]) -> None:
    assert clean("PSS-14", pod(spec))


def test_an_unknown_is_left_to_the_update() -> None:
    outcome = judge("PSS-14", pod(pod_spec(volumes=[UNKNOWN])))
    assert outcome.unjudged
    assert not outcome.messages


def test_an_unknown_container_hides_no_other() -> None:
    bad = BAD[0]
    outcome = judge("PSS-14", pod({**bad, "initContainers": [UNKNOWN, *bad.get("initContainers", [])]}))
    assert outcome.messages
    assert outcome.unjudged

"""PACK-03."""

from typing import Any

from policies.engine import state
from tests.policy.harness import clean, fires
from tests.policy.manifests import pod, pod_spec


def excusing(expires: str) -> dict[str, Any]:
    exception = {"rule": "SA-01", "resource": "Pod/team-a/app", "reason": "ticket 12", "expires": expires}
    return {"exceptions": [exception]}


def test_an_unused_exception_is_told() -> None:
    state.reset()
    assert fires("PACK-03", pod(), config=excusing("2999-01-01"))
    assert clean("PACK-03", pod(), config=excusing("2020-01-01"))
    assert clean("PACK-03", pod())


def test_a_used_exception_is_not_told() -> None:
    state.reset()
    try:
        nameless = pod(pod_spec(serviceAccountName="default"))
        assert clean("PACK-01", nameless, config=excusing("2999-01-01"))
        assert clean("SA-01", nameless)
        assert clean("PACK-03", nameless)
    finally:
        state.reset()

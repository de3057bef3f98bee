"""PACK-02."""

from typing import Any

from policies.engine import state
from tests.policy.harness import clean, fires
from tests.policy.manifests import pod, pod_spec


def excusing(expires: str) -> dict[str, Any]:
    exception = {"rule": "SA-01", "resource": "Pod/team-a/app", "reason": "ticket 12", "expires": expires}
    return {"exceptions": [exception]}


def test_an_expired_exception_is_told() -> None:
    state.reset()
    assert fires("PACK-02", pod(), config=excusing("2020-01-01"))
    assert clean("PACK-02", pod(), config=excusing("2999-01-01"))
    assert clean("PACK-02", pod())


def test_an_expired_exception_excuses_nothing() -> None:
    nameless = pod(pod_spec(serviceAccountName="default"))
    assert fires("SA-01", nameless)
    try:
        assert clean("PACK-01", nameless, config=excusing("2020-01-01"))
        assert fires("SA-01", nameless)
        assert clean("PACK-01", nameless, config=excusing("2999-01-01"))
        assert clean("SA-01", nameless)
    finally:
        state.reset()

"""AUD-13."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import grant, listed, role


@pytest.mark.parametrize(
    "rule",
    [
        grant("", "events", "delete"),
        grant("events.k8s.io", "events", "deletecollection"),
        grant("", ["pods", "events"], ["get", "delete"]),
        grant("", "pods/log", "delete"),
        grant("*", "*", "*"),
    ],
)
def test_erasing_is_refused(rule: dict[str, Any]) -> None:
    assert fires("AUD-13", role(grant(), rule))
    assert fires("AUD-13", listed(role(rule, kind="ClusterRole")))


@pytest.mark.parametrize(
    "rule", [grant("", "events", ["create", "patch"]), grant("", "pods/log", "get"), grant("", "pods", "delete")]
)
def test_writing_and_reading_pass(rule: dict[str, Any]) -> None:
    assert clean("AUD-13", role(rule))


def test_an_unknown_verb_is_left_to_the_update() -> None:
    assert judge("AUD-13", role(grant("", "events", [UNKNOWN]))).unjudged

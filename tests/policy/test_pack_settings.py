"""PACK-01."""

from typing import Any

import pytest

from policies.engine import state
from policies.settings import DEFAULTS
from tests.policy.harness import clean, judge
from tests.policy.manifests import pod


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"gpuTier": ["a"]}, "gpuTier is no setting"),
        ({"gpuTiers": "a"}, "must be a list of texts"),
        ({"minAuditDays": 1.5}, "whole number"),
        ({"exceptions": [{"rule": "a", "resource": "b", "reason": " ", "expires": "2030-01-01"}]}, "not empty"),
    ],
)
def test_settings_that_cannot_be_used_are_told(config: dict[str, Any], told: str) -> None:
    outcome = judge("PACK-01", pod(), config=config)
    assert len(outcome.messages) == 1
    assert told in outcome.messages[0]


def test_settings_that_can_be_used_are_in_force_for_every_rule() -> None:
    try:
        assert clean("PACK-01", pod(), config={"gpuTiers": ["models"], "minAuditDays": 90.0})
        assert state.PACK.settings.gpu_tiers == ("models",)
        assert state.PACK.settings.min_audit_days == 90
    finally:
        state.reset()
    assert state.PACK.settings == DEFAULTS

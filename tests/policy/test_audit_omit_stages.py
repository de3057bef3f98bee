"""AUD-06."""

from typing import Any

import pytest

from tests.policy.audits import CATCH_ALL, HOLDERS, audit_policy
from tests.policy.harness import UNKNOWN, clean, fires, judge


@pytest.mark.parametrize("stage", ["ResponseComplete", "ResponseStarted", "Panic"])
@pytest.mark.parametrize("hold", HOLDERS)
def test_a_stage_that_tells_the_outcome_may_not_be_left_out(hold: Any, stage: str) -> None:
    assert fires("AUD-06", hold(audit_policy(CATCH_ALL, omitStages=["RequestReceived", stage])))
    assert fires("AUD-06", hold(audit_policy({"level": "Request", "omitStages": [stage]}, CATCH_ALL)))


@pytest.mark.parametrize("stages", [["RequestReceived"], [], None])
def test_the_first_stage_may(stages: Any) -> None:
    assert clean("AUD-06", audit_policy({**CATCH_ALL, "omitStages": stages}, omitStages=stages))


def test_a_rule_that_records_nothing_leaves_nothing_out() -> None:
    noise = {"level": "None", "users": ["system:kube-proxy"], "omitStages": ["ResponseComplete"]}
    assert clean("AUD-06", audit_policy(noise, CATCH_ALL))


def test_an_unknown_stage_is_left_to_the_update() -> None:
    assert judge("AUD-06", audit_policy(CATCH_ALL, omitStages=[UNKNOWN])).unjudged

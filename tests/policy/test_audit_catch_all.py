"""AUD-04."""

from typing import Any

import pytest

from tests.policy.audits import CATCH_ALL, HOLDERS, SENSITIVE, audit_policy
from tests.policy.harness import UNKNOWN, clean, fires, judge


@pytest.mark.parametrize(
    "rules",
    [
        [SENSITIVE],
        [SENSITIVE, {"level": "Metadata", "resources": [{"group": ""}, {"group": "apps"}, {"group": "batch"}]}],
        [SENSITIVE, {"level": "None"}],
        [SENSITIVE, {"level": "Metadata", "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"]}],
        [SENSITIVE, {"level": "Metadata", "namespaces": ["team-a"]}],
        [SENSITIVE, {"level": "Metadata", "userGroups": ["system:authenticated"]}],
    ],
)
@pytest.mark.parametrize("hold", HOLDERS)
def test_a_list_with_an_open_end_is_refused(hold: Any, rules: list[dict[str, Any]]) -> None:
    assert fires("AUD-04", hold(audit_policy(*rules)))


@pytest.mark.parametrize(
    "rules",
    [
        [CATCH_ALL],
        [SENSITIVE, {"level": "Request", "omitStages": ["RequestReceived"]}],
        [SENSITIVE, {"level": "RequestResponse"}],
    ],
)
def test_a_closed_list_passes(rules: list[dict[str, Any]]) -> None:
    assert clean("AUD-04", audit_policy(*rules))


def test_an_unknown_end_is_left_to_the_update() -> None:
    assert judge("AUD-04", audit_policy(SENSITIVE, UNKNOWN)).unjudged  # type: ignore[arg-type]
    assert judge("AUD-04", audit_policy(SENSITIVE, {"level": UNKNOWN})).unjudged


def test_a_policy_without_rules_is_another_rules_business() -> None:
    assert clean("AUD-04", audit_policy())


def test_an_unknown_rule_may_be_the_missing_end() -> None:
    outcome = judge("AUD-04", audit_policy(SENSITIVE, UNKNOWN))  # type: ignore[arg-type]
    assert not outcome.messages

"""AUD-03."""

from typing import Any

import pytest

from tests.policy.audits import CATCH_ALL, HOLDERS, SENSITIVE, audit_policy
from tests.policy.harness import UNKNOWN, clean, fires, judge


@pytest.mark.parametrize(
    "rules",
    [
        [{"level": "None"}, SENSITIVE, CATCH_ALL],
        [SENSITIVE, {"level": "None", "users": [], "resources": []}, CATCH_ALL],
        [{"level": "None"}],
        [{"level": "None", "verbs": ["create", "update", "patch", "delete"]}, CATCH_ALL],
        [{"level": "None", "omitStages": ["RequestReceived"]}, CATCH_ALL],
    ],
)
@pytest.mark.parametrize("hold", HOLDERS)
def test_a_rule_that_drops_everything_is_refused(hold: Any, rules: list[dict[str, Any]]) -> None:
    assert fires("AUD-03", hold(audit_policy(*rules)))


@pytest.mark.parametrize(
    "rules",
    [
        [CATCH_ALL],
        [{"level": "None", "users": ["system:kube-proxy"], "verbs": ["watch"]}, CATCH_ALL],
        [{"level": "None", "nonResourceURLs": ["/healthz*", "/version"]}, CATCH_ALL],
        [{"level": "None", "resources": [{"group": "", "resources": ["events"]}]}, CATCH_ALL],
        [CATCH_ALL, {"level": "None"}],
    ],
)
def test_restricted_noise_passes(rules: list[dict[str, Any]]) -> None:
    assert clean("AUD-03", audit_policy(*rules))


def test_an_unknown_level_is_left_to_the_update() -> None:
    assert judge("AUD-03", audit_policy({"level": UNKNOWN}, CATCH_ALL)).unjudged


def test_what_no_rule_reaches_drops_nothing() -> None:
    assert clean("AUD-03", audit_policy(CATCH_ALL, {"level": "None"}, SENSITIVE))


def dropped(*members: Any, **more: Any) -> dict[str, Any]:
    return {"level": "None", "resources": list(members), **more}


@pytest.mark.parametrize(
    "rule",
    [
        dropped({"group": ""}),
        dropped({"group": "", "resources": []}),
        dropped({}),
        dropped({"group": "apps", "resources": ["*"]}),
        dropped({"group": "events.k8s.io"}, {"group": "rbac.authorization.k8s.io"}),
        dropped({"group": "batch"}, verbs=["create"]),
    ],
)
def test_a_rule_that_drops_all_changes_of_a_group_is_refused(rule: dict[str, Any]) -> None:
    assert fires("AUD-03", audit_policy(SENSITIVE, rule, CATCH_ALL))


@pytest.mark.parametrize(
    "rule",
    [
        dropped({"group": "metrics.k8s.io"}),
        dropped({"group": "coordination.k8s.io", "resources": ["leases"]}),
        dropped({"group": ""}, verbs=["get", "list", "watch"]),
        dropped({"group": "", "resources": ["events"]}),
        dropped({"group": "apps"}, users=["system:kube-controller-manager"]),
        dropped({"group": "apps"}, namespaces=["kube-system"]),
    ],
)
def test_noise_of_a_group_passes(rule: dict[str, Any]) -> None:
    assert clean("AUD-03", audit_policy(SENSITIVE, rule, CATCH_ALL))


def test_an_unknown_group_blinds_nobody_yet() -> None:
    assert clean("AUD-03", audit_policy(dropped({"group": UNKNOWN}), CATCH_ALL))
    assert clean("AUD-03", audit_policy(dropped({"group": "", "resources": UNKNOWN}), CATCH_ALL))

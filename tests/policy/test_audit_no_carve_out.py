"""AUD-07."""

from typing import Any

import pytest

from tests.policy.audits import CATCH_ALL, HOLDERS, audit_policy
from tests.policy.harness import UNKNOWN, clean, fires, judge

READ = ["get", "list", "watch"]


def none(**more: Any) -> dict[str, Any]:
    return {"level": "None", **more}


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(none(userGroups=["system:masters"]), id="the superusers"),
        pytest.param(none(userGroups=["system:authenticated"]), id="everybody who logged in"),
        pytest.param(none(users=["system:serviceaccount:team-a:worker"], verbs=READ), id="a workload's account"),
        pytest.param(none(users=["ann"]), id="a person"),
        pytest.param(none(users=["system:kube-proxy", "mallory"], verbs=["watch"]), id="hidden behind a component"),
        pytest.param(none(namespaces=["team-a"]), id="a tenant's namespace"),
        pytest.param(none(namespaces=["kube-system"]), id="changes in the system's namespace"),
        pytest.param(none(users=["system:kube-controller-manager"]), id="changes of a component"),
        pytest.param(
            none(users=["system:apiserver"], verbs=["get"], resources=[{"group": "", "resources": ["secrets"]}]),
            id="a component's use of keys",
        ),
    ],
)
@pytest.mark.parametrize("hold", HOLDERS)
def test_a_carve_out_is_refused(hold: Any, rule: dict[str, Any]) -> None:
    assert fires("AUD-07", hold(audit_policy(rule, CATCH_ALL)))


@pytest.mark.parametrize(
    "rule",
    [
        none(
            users=["system:kube-proxy"],
            verbs=["watch"],
            resources=[{"group": "", "resources": ["endpoints", "services"]}],
        ),
        none(
            userGroups=["system:nodes"],
            verbs=["get"],
            resources=[{"group": "", "resources": ["nodes", "nodes/status"]}],
        ),
        none(
            users=["system:kube-scheduler", "system:serviceaccount:kube-system:endpoint-controller"],
            verbs=["get", "update"],
            namespaces=["kube-system"],
            resources=[{"group": "", "resources": ["endpoints"]}],
        ),
        none(users=["system:unsecured"], namespaces=["kube-system"], verbs=["get"]),
        none(nonResourceURLs=["/healthz*", "/version"]),
        none(userGroups=["system:authenticated"], nonResourceURLs=["/api*", "/version"]),
        none(resources=[{"group": "", "resources": ["events"]}]),
        {"level": "Metadata", "userGroups": ["system:masters"]},
    ],
)
def test_known_noise_passes(rule: dict[str, Any]) -> None:
    assert clean("AUD-07", audit_policy(rule, CATCH_ALL))


def test_an_unknown_user_is_left_to_the_update() -> None:
    assert judge("AUD-07", audit_policy(none(users=[UNKNOWN]), CATCH_ALL)).unjudged
    assert judge("AUD-07", audit_policy(UNKNOWN, none(users=["ann"]), CATCH_ALL)).messages  # type: ignore[arg-type]


def test_what_is_dropped_for_everybody_is_another_rules_business() -> None:
    assert clean("AUD-07", audit_policy(none(verbs=["get"]), CATCH_ALL))
    assert clean("AUD-07", audit_policy(none(), CATCH_ALL))


def test_reads_in_a_tenants_namespace_are_recorded_too() -> None:
    assert fires("AUD-07", audit_policy(none(namespaces=["team-a"], verbs=READ), CATCH_ALL))
    assert clean("AUD-07", audit_policy(none(namespaces=["kube-system"], verbs=READ), CATCH_ALL))


def test_an_unknown_level_is_left_to_the_update() -> None:
    assert judge("AUD-07", audit_policy({"level": UNKNOWN, "users": ["ann"]}, CATCH_ALL)).unjudged


def openshift(*rules: Any) -> dict[str, Any]:
    audit = {"profile": "Default", "customRules": list(rules)}
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "APIServer",
        "metadata": {"name": "cluster"},
        "spec": {"audit": audit},
    }


def test_a_group_that_openshift_leaves_out_is_found() -> None:
    kept = {"group": "system:authenticated", "profile": "WriteRequestBodies"}
    assert fires("AUD-07", openshift(kept, {"group": "system:authenticated:oauth", "profile": "None"}))
    assert clean("AUD-07", openshift(kept))
    assert judge("AUD-07", openshift({"group": "g", "profile": UNKNOWN})).unjudged

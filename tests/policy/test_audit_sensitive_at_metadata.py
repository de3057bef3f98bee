"""AUD-02."""

from typing import Any

import pytest

from tests.policy.audits import CATCH_ALL, CORE, HOLDERS, SENSITIVE, audit_policy
from tests.policy.harness import UNKNOWN, clean, fires, judge

WRITES = {"level": "RequestResponse", "verbs": ["create", "update", "patch", "delete"]}
NOISE = {
    "level": "None",
    "users": ["system:kube-proxy"],
    "verbs": ["watch"],
    "resources": [{"group": "", "resources": ["endpoints", "services"]}],
}


NAMESPACES = {
    "level": "Request",
    "users": ["system:serviceaccount:kube-system:namespace-controller"],
    "verbs": ["deletecollection"],
}


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param([WRITES, SENSITIVE, CATCH_ALL], id="bodies of writes before the Metadata rule"),
        pytest.param(
            [{"level": "RequestResponse", "resources": [{"group": ""}]}, SENSITIVE, CATCH_ALL],
            id="whole core group first",
        ),
        pytest.param([{"level": "Request", "resources": [{"group": "", "resources": ["*"]}]}, CATCH_ALL], id="by star"),
        pytest.param([{"level": "RequestResponse"}], id="everything with bodies"),
        pytest.param([{"level": "None", "resources": [CORE]}, CATCH_ALL], id="dropped"),
        pytest.param([{"level": "None", "verbs": ["get", "list", "watch"]}, CATCH_ALL], id="reads dropped"),
        pytest.param([{"level": "Metadata", "resources": [{"group": "apps"}]}], id="falls through"),
        pytest.param(
            [
                {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets", "configmaps"]}]},
                {"level": "Request"},
            ],
            id="token reviews with bodies",
        ),
        pytest.param(
            [
                {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets"], "resourceNames": ["a"]}]},
                {"level": "RequestResponse"},
            ],
            id="only one Secret by name",
        ),
        pytest.param(
            [
                {
                    "level": "Metadata",
                    "resources": [
                        {"group": "", "resources": ["secrets", "configmaps"]},
                        {"group": "authentication.k8s.io", "resources": ["tokenreviews"]},
                    ],
                },
                {"level": "RequestResponse"},
            ],
            id="live tokens in answers",
        ),
    ],
)
@pytest.mark.parametrize("hold", HOLDERS)
def test_a_leaking_or_blind_policy_is_refused(hold: Any, rules: list[dict[str, Any]]) -> None:
    assert fires("AUD-02", hold(audit_policy(*rules)))


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param([CATCH_ALL], id="one rule for everything"),
        pytest.param([NAMESPACES, SENSITIVE, CATCH_ALL], id="a component's deletions carry no object"),
        pytest.param([NOISE, SENSITIVE, WRITES, CATCH_ALL], id="the upstream order"),
        pytest.param(
            [{"level": "None", "nonResourceURLs": ["/healthz*"]}, SENSITIVE, {"level": "RequestResponse"}], id="urls"
        ),
        pytest.param([{"level": "Request", "resources": [{"group": "", "resources": ["pods"]}]}, CATCH_ALL], id="pods"),
    ],
)
@pytest.mark.parametrize("hold", HOLDERS)
def test_metadata_exactly_passes(hold: Any, rules: list[dict[str, Any]]) -> None:
    assert clean("AUD-02", hold(audit_policy(*rules)))


def test_an_unknown_level_is_left_to_the_update() -> None:
    assert judge("AUD-02", audit_policy({**SENSITIVE, "level": UNKNOWN}, CATCH_ALL)).unjudged
    assert judge("AUD-02", audit_policy(UNKNOWN, {"level": "RequestResponse"})).messages  # type: ignore[arg-type]

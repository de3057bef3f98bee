"""AUD-05."""

from typing import Any

import pytest

from tests.policy.audits import CATCH_ALL, HOLDERS, audit_policy
from tests.policy.harness import UNKNOWN, clean, fires, judge

PODS = {"level": "Metadata", "resources": [{"group": "", "resources": ["pods"]}]}


def dropped(group: str, *resources: str, **more: Any) -> dict[str, Any]:
    return {"level": "None", "resources": [{"group": group, "resources": list(resources)}], **more}


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param([PODS], id="pods does not cover pods/exec"),
        pytest.param([dropped("", "pods/exec"), CATCH_ALL], id="exec dropped"),
        pytest.param([dropped("", "pods/*"), CATCH_ALL], id="by star"),
        pytest.param([dropped("", "pods/exec", verbs=["get"]), CATCH_ALL], id="exec by get"),
        pytest.param([dropped("", "nodes/proxy"), CATCH_ALL], id="the kubelet"),
        pytest.param([dropped("rbac.authorization.k8s.io", "rolebindings", verbs=["create"]), CATCH_ALL], id="rights"),
        pytest.param([{"level": "None", "resources": [{"group": "rbac.authorization.k8s.io"}]}, CATCH_ALL], id="group"),
        pytest.param([dropped("", "pods/portforward", namespaces=["team-a"]), CATCH_ALL], id="in one namespace"),
    ],
)
@pytest.mark.parametrize("hold", HOLDERS)
def test_what_goes_unrecorded_is_refused(hold: Any, rules: list[dict[str, Any]]) -> None:
    assert fires("AUD-05", hold(audit_policy(*rules)))


@pytest.mark.parametrize(
    "rules",
    [
        [CATCH_ALL],
        [{"level": "Request", "resources": [{"group": "", "resources": ["pods/exec", "pods/attach"]}]}, CATCH_ALL],
        [dropped("", "pods", verbs=["get", "list", "watch"]), CATCH_ALL],
        [dropped("rbac.authorization.k8s.io", "roles", verbs=["get", "list", "watch"]), CATCH_ALL],
        [dropped("", "events"), CATCH_ALL],
    ],
)
def test_recorded_entries_pass(rules: list[dict[str, Any]]) -> None:
    assert clean("AUD-05", audit_policy(*rules))


def test_an_unknown_is_left_to_the_update() -> None:
    assert judge("AUD-05", audit_policy(UNKNOWN, CATCH_ALL)).unjudged  # type: ignore[arg-type]

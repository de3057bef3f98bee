"""NET-07."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, deployment, pod
from tests.policy.networks import calico, cilium, net_policy

SELECTS = {"matchLabels": {"app": "app"}}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param([], id="no policy"),
        pytest.param([net_policy(namespace="team-b")], id="in another namespace"),
        pytest.param([net_policy(podSelector={"matchLabels": {"app": "other"}})], id="selects other pods"),
        pytest.param([net_policy(podSelector=SELECTS, policyTypes=["Ingress"])], id="ingress only"),
        pytest.param(
            [net_policy(podSelector={"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["app"]}]})],
            id="excludes these pods",
        ),
    ],
)
def test_an_ungoverned_workload_is_refused(program: list[dict[str, Any]]) -> None:
    assert fires("NET-07", deployment(), *program)


@pytest.mark.parametrize("hold", [hold for hold in POD_HOLDERS if hold(None)["kind"] != "PodTemplate"])
def test_every_kind_that_makes_pods_is_judged(hold: Any) -> None:
    assert fires("NET-07", hold(None))
    assert clean("NET-07", hold(None), net_policy())


def test_policies_that_select_the_pods_pass() -> None:
    assert clean("NET-07", pod(), net_policy(podSelector=SELECTS))
    both = [net_policy("a", policyTypes=["Ingress"]), net_policy("b", podSelector=SELECTS, policyTypes=["Egress"])]
    assert clean("NET-07", deployment(), *both)


def test_an_unknown_label_is_left_to_the_update() -> None:
    assert judge("NET-07", pod(labels={"app": UNKNOWN}), net_policy(podSelector=SELECTS)).unjudged


def test_a_namespace_protected_elsewhere_is_left_alone() -> None:
    assert clean("NET-07", pod(), config={"networkProtectedElsewhere": ["team-*"]})


BOTH: dict[str, Any] = {"ingress": [{}], "egress": [{}]}
TYPES: dict[str, Any] = {"types": ["Ingress", "Egress"]}


@pytest.mark.parametrize(
    "policy",
    [
        cilium(endpointSelector={"matchLabels": {"app": "app"}}, **BOTH),
        cilium(endpointSelector={"matchLabels": {"k8s:app": "app"}}, **BOTH),
        cilium(
            endpointSelector={"matchExpressions": [{"key": "any:app", "operator": "In", "values": ["app"]}]}, **BOTH
        ),
        cilium(wide=True, endpointSelector={"matchLabels": {"io.kubernetes.pod.namespace": "team-a"}}, **BOTH),
        calico(selector="app == 'app'", **TYPES),
        calico(selector='has(app) && app in {"app", "web"} && app != "db" && !has(x)', **TYPES),
        calico(wide=True, namespaceSelector="kubernetes.io/metadata.name == 'team-a'", **TYPES),
    ],
)
def test_policies_of_other_dialects_that_select_the_pods_pass(policy: dict[str, Any]) -> None:
    assert clean("NET-07", deployment(), policy)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(endpointSelector={"matchLabels": {"app": "web"}}, **BOTH),
        cilium(wide=True, endpointSelector={"matchLabels": {"io.kubernetes.pod.namespace": "b"}}, **BOTH),
        {**cilium(), "spec": {**BOTH}},
        calico(selector="app == 'web'", **TYPES),
        calico(selector="app not in {'app'}", **TYPES),
        calico(selector="!has(app)", **TYPES),
        calico(selector="has(tier)", **TYPES),
        calico(selector="app == 'app' || true", **TYPES),
        calico(wide=True, namespaceSelector="team == 'x'", **TYPES),
    ],
)
def test_policies_of_other_dialects_for_other_pods_do_not_count(policy: dict[str, Any]) -> None:
    assert fires("NET-07", deployment(), policy)

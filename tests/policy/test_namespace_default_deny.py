"""NET-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.networks import admin, calico, cilium, namespace, net_policy

DNS = [{"ports": [{"port": 53, "protocol": "UDP"}], "to": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]}]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param([], id="no policy at all"),
        pytest.param([net_policy(namespace="team-b")], id="in another namespace"),
        pytest.param([net_policy(podSelector={"matchLabels": {"app": "x"}})], id="selects some pods"),
        pytest.param([net_policy(policyTypes=["Ingress"])], id="ingress only"),
        pytest.param([net_policy(policyTypes=["Egress"])], id="egress only"),
        pytest.param([net_policy(policyTypes=None)], id="egress is not implied"),
        pytest.param([net_policy(ingress=[{}])], id="allows everything back in"),
        pytest.param([net_policy(namespace=None)], id="in the default namespace by mistake"),
    ],
)
def test_an_open_namespace_is_refused(program: list[dict[str, Any]]) -> None:
    assert fires("NET-01", namespace(), *program)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param([net_policy()], id="one policy for both"),
        pytest.param(
            [net_policy("a", policyTypes=["Ingress"]), net_policy("b", policyTypes=["Egress"])], id="one each"
        ),
        pytest.param([net_policy(egress=DNS)], id="names are still resolved"),
        pytest.param([net_policy(api="extensions/v1beta1")], id="old group"),
        pytest.param([net_policy(podSelector={"matchLabels": {}, "matchExpressions": []})], id="empty in other words"),
        pytest.param([net_policy(policyTypes=None, egress=DNS)], id="egress is implied by its rules"),
    ],
)
def test_a_closed_namespace_passes(program: list[dict[str, Any]]) -> None:
    assert clean("NET-01", namespace(), *program)


def test_namespaces_of_the_cluster_and_of_other_programs_are_left_alone() -> None:
    assert clean("NET-01", namespace("kube-system"))
    assert clean("NET-01", namespace("shared-1"), config={"networkProtectedElsewhere": ["shared-*"]})
    assert fires("NET-01", namespace("team-a"), config={"networkProtectedElsewhere": ["shared-*"]})


def test_each_open_namespace_is_told() -> None:
    outcome = judge("NET-01", namespace("a"), namespace("b"), namespace("c"), net_policy(namespace="b"))
    assert [m.split(":")[0] for m in outcome.messages] == ["Namespace a", "Namespace c"]


def test_an_unknown_that_may_close_it_is_left_to_the_update() -> None:
    assert judge("NET-01", namespace(), net_policy(namespace=UNKNOWN)).unjudged
    assert judge("NET-01", namespace(), net_policy(podSelector=UNKNOWN)).unjudged
    assert fires("NET-01", namespace(), net_policy(podSelector=UNKNOWN, policyTypes=["Egress"]))


CLOSED_ELSEHOW = [
    pytest.param([cilium(ingress=[{}], egress=[{}])], id="cilium, empty rules"),
    pytest.param([cilium(ingressDeny=[{"fromEntities": ["world"]}], egress=[{}])], id="cilium, denials"),
    pytest.param([cilium(enableDefaultDeny={"ingress": True, "egress": True})], id="cilium, switched on"),
    pytest.param([cilium(wide=True, ingress=[{}], egress=[{}])], id="cilium, whole cluster"),
    pytest.param(
        [
            cilium(
                wide=True,
                endpointSelector={"matchLabels": {"k8s:io.kubernetes.pod.namespace": "team-a"}},
                ingress=[{}],
                egress=[{}],
            )
        ],
        id="cilium, this namespace",
    ),
    pytest.param([calico(types=["Ingress", "Egress"])], id="calico"),
    pytest.param([calico(types=["Ingress"]), net_policy(policyTypes=["Egress"])], id="half and half"),
    pytest.param([calico(selector=None, ingress=[], egress=[])], id="calico, types implied"),
    pytest.param([calico(wide=True, types=["Ingress", "Egress"])], id="calico, whole cluster"),
    pytest.param(
        [
            calico(
                wide=True,
                namespaceSelector="has(projectcalico.org/name) && projectcalico.org/name not in {'kube-system'}",
                types=["Ingress", "Egress"],
            )
        ],
        id="calico, all but the system",
    ),
]
OPEN_ELSEHOW = [
    pytest.param([cilium(ingress=[{}])], id="cilium, ingress only"),
    pytest.param([cilium(ingress=[], egress=[])], id="cilium, no rules deny nothing"),
    pytest.param(
        [cilium(enableDefaultDeny={"ingress": False, "egress": False}, ingress=[{}], egress=[{}])],
        id="cilium, switched off",
    ),
    pytest.param(
        [cilium(wide=True, nodeSelector={"matchLabels": {"a": "b"}}, ingress=[{}], egress=[{}])], id="cilium, nodes"
    ),
    pytest.param([calico(types=["Egress"])], id="calico, egress only"),
    pytest.param([calico(egress=[])], id="calico, ingress is not implied"),
    pytest.param([calico(serviceAccountSelector="a == 'b'", types=["Ingress", "Egress"])], id="calico, some accounts"),
    pytest.param([calico(types=["Ingress", "Egress"], ingress=[{"action": "Allow"}])], id="calico, lets all in"),
    pytest.param(
        [calico(wide=True, namespaceSelector="projectcalico.org/name == 'b'", types=["Ingress", "Egress"])],
        id="calico, another namespace",
    ),
    pytest.param([admin("BaselineAdminNetworkPolicy", ingress=[], egress=[])], id="no denial of an administrator"),
]


@pytest.mark.parametrize("program", CLOSED_ELSEHOW)
def test_other_dialects_close_a_namespace_too(program: list[dict[str, Any]]) -> None:
    assert clean("NET-01", namespace(), *program)


@pytest.mark.parametrize("program", OPEN_ELSEHOW)
def test_other_dialects_that_leave_it_open_are_refused(program: list[dict[str, Any]]) -> None:
    assert fires("NET-01", namespace(), *program)


@pytest.mark.parametrize(
    "policy",
    [
        cilium(endpointSelector=UNKNOWN, ingress=[{}], egress=[{}]),
        calico(selector=UNKNOWN, types=["Ingress", "Egress"]),
    ],
)
def test_an_unknown_selector_of_other_dialects_is_left_to_the_update(policy: dict[str, Any]) -> None:
    assert judge("NET-01", namespace(), policy).unjudged

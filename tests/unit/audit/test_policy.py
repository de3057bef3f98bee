"""The audit policy, judged as the API server judges it: the first rule that matches a request decides its level."""

import itertools
from typing import Any

import pytest

from lantau.audit import AuditedRequest, effective_level, render_audit_policy
from lantau.audit.policy import READS, WRITES

LEVELS = ("None", "Metadata", "Request", "RequestResponse")
VERBS = (*READS, *WRITES, "approve", "impersonate", "proxy")
USERS = (
    ("kubernetes-admin", ("system:masters", "system:authenticated")),
    ("chen", ("lantau:auditor", "system:authenticated")),
    ("system:serviceaccount:lantau-inference:engine", ("system:serviceaccounts", "system:authenticated")),
    ("system:node:gpu-a100-1", ("system:nodes", "system:authenticated")),
    ("system:kube-controller-manager", ("system:authenticated",)),
    ("system:kube-scheduler", ("system:authenticated",)),
    ("system:kube-proxy", ("system:authenticated",)),
    ("system:apiserver", ("system:masters", "system:authenticated")),
    ("system:anonymous", ("system:unauthenticated",)),
)
NAMESPACES = ("", "kube-system", "lantau-inference")
POLICY = render_audit_policy()


def levels(resource: str, group: str = "", verbs: tuple[str, ...] = VERBS) -> set[str]:
    """The levels at which this resource is recorded over all users, verbs and namespaces."""
    return {
        effective_level(POLICY, AuditedRequest(verb, resource, group, user, groups, namespace))
        for (user, groups), verb, namespace in itertools.product(USERS, verbs, NAMESPACES)
    }


@pytest.mark.parametrize(
    ("resource", "group"),
    [
        ("secrets", ""),
        ("configmaps", ""),
        ("serviceaccounts/token", ""),
        ("tokenreviews", "authentication.k8s.io"),
    ],
)
def test_what_carries_keys_is_recorded_by_metadata_alone_whoever_asks(resource: str, group: str) -> None:
    assert levels(resource, group) == {"Metadata"}


@pytest.mark.parametrize(
    "resource",
    [
        "pods/exec",
        "pods/attach",
        "pods/portforward",
        "pods/proxy",
        "pods/ephemeralcontainers",
        "services/proxy",
        "nodes/proxy",
    ],
)
def test_going_into_a_pod_or_round_the_api_server_is_always_recorded(resource: str) -> None:
    assert levels(resource) == {"Metadata"}


@pytest.mark.parametrize("resource", ["roles", "rolebindings", "clusterroles", "clusterrolebindings"])
def test_changes_of_rights_are_recorded_with_their_bodies(resource: str) -> None:
    assert levels(resource, "rbac.authorization.k8s.io", WRITES) == {"RequestResponse"}
    assert levels(resource, "rbac.authorization.k8s.io", READS) == {"Metadata"}


@pytest.mark.parametrize(
    ("resource", "group"),
    [
        ("namespaces", ""),
        ("resourcequotas", ""),
        ("networkpolicies", "networking.k8s.io"),
        ("validatingadmissionpolicies", "admissionregistration.k8s.io"),
        ("validatingwebhookconfigurations", "admissionregistration.k8s.io"),
        ("priorityclasses", "scheduling.k8s.io"),
    ],
)
def test_changes_of_guard_rails_are_recorded_with_what_was_asked(resource: str, group: str) -> None:
    assert levels(resource, group, WRITES) == {"Request"}


@pytest.mark.parametrize(
    ("resource", "group"),
    [
        ("pods", ""),
        ("deployments", "apps"),
        ("deployments/scale", "apps"),
        ("jobs", "batch"),
        ("httproutes", "gateway.networking.k8s.io"),
        ("externalsecrets", "external-secrets.io"),
        ("things", "of.a.group.that.nobody.listed"),
    ],
)
def test_every_change_of_a_workload_is_recorded_and_its_body_is_not(resource: str, group: str) -> None:
    assert levels(resource, group, WRITES) == {"Metadata"}


def test_no_write_of_anything_by_anybody_goes_unrecorded() -> None:
    known = {
        (group, resource)
        for rule in POLICY["rules"]
        for scope in rule.get("resources", ())
        for group, resource in itertools.product([scope["group"]], scope.get("resources", ["anything"]))
    }
    for group, resource in known | {("", "nodes"), ("apps", "deployments"), ("coordination.k8s.io", "leases")}:
        assert "None" not in levels(resource, group, WRITES)


def test_only_named_system_components_reading_are_left_out() -> None:
    silent = [rule for rule in POLICY["rules"] if rule["level"] == "None"]
    assert silent
    for rule in silent:
        assert rule["users"]
        assert all(user.startswith("system:") and user.count(":") == 1 for user in rule["users"])
        assert set(rule["verbs"]) <= set(READS)
        assert rule.get("resources") or rule.get("nonResourceURLs")
        assert "userGroups" not in rule
        assert "namespaces" not in rule


def test_people_and_workloads_are_recorded_in_whatever_they_read() -> None:
    for user, groups in USERS[:4]:
        for resource, group in (("pods", ""), ("nodes", ""), ("endpoints", ""), ("leases", "coordination.k8s.io")):
            request = AuditedRequest("list", resource, group, user, groups)
            assert effective_level(POLICY, request) == "Metadata"


@pytest.mark.parametrize(
    ("url", "level"), [("/healthz", "None"), ("/readyz/etcd", "None"), ("/openapi/v3", "Metadata")]
)
def test_health_checks_without_credentials_are_left_out_and_other_addresses_are_not(url: str, level: str) -> None:
    request = AuditedRequest("get", url=url, user="system:anonymous", user_groups=("system:unauthenticated",))
    assert effective_level(POLICY, request) == level


def test_only_the_stage_before_the_outcome_is_omitted() -> None:
    assert POLICY["omitStages"] == ["RequestReceived"]
    assert not [rule for rule in POLICY["rules"] if "omitStages" in rule]


def test_the_last_rule_matches_everything() -> None:
    assert POLICY["rules"][-1] == {"level": "Metadata"}
    assert all(rule["level"] in LEVELS for rule in POLICY["rules"])


def test_each_rendering_is_a_copy_of_its_own() -> None:
    render_audit_policy()["rules"].clear()
    assert render_audit_policy() == POLICY


@pytest.mark.parametrize(
    ("rule", "request_", "level"),
    [
        ({"resources": [{"group": "", "resources": ["pods"]}]}, AuditedRequest("get", "pods/exec"), "None"),
        ({"resources": [{"group": "", "resources": ["pods/*"]}]}, AuditedRequest("get", "pods/exec"), "Request"),
        ({"resources": [{"group": "", "resources": ["*/scale"]}]}, AuditedRequest("get", "pods/scale"), "Request"),
        ({"resources": [{"group": "", "resources": ["*"]}]}, AuditedRequest("get", "pods/exec"), "Request"),
        ({"resources": [{"group": ""}]}, AuditedRequest("get", "anything"), "Request"),
        ({"resources": [{"group": "apps"}]}, AuditedRequest("get", "pods"), "None"),
        (
            {"resources": [{"group": "", "resources": ["pods"], "resourceNames": ["a"]}]},
            AuditedRequest("get", "pods", name="b"),
            "None",
        ),
        ({"namespaces": [""]}, AuditedRequest("get", "nodes"), "Request"),
        ({"namespaces": [""]}, AuditedRequest("get", "pods", namespace="x"), "None"),
        ({"userGroups": ["g"]}, AuditedRequest("get", "pods", user_groups=("g", "h")), "Request"),
        ({"nonResourceURLs": ["/a*"]}, AuditedRequest("get", "pods"), "None"),
        ({"nonResourceURLs": ["/a*"]}, AuditedRequest("get", url="/abc"), "Request"),
        ({"resources": [{"group": ""}]}, AuditedRequest("get", url="/abc"), "None"),
    ],
)
def test_rules_are_matched_as_the_api_server_matches_them(
    rule: dict[str, Any], request_: AuditedRequest, level: str
) -> None:
    assert effective_level({"rules": [{"level": "Request", **rule}]}, request_) == level

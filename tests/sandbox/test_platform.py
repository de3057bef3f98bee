"""The whole platform on a real engine and a real API server. The tests run in order, each on the last."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lantau.labels import NAMESPACES, POOL_LABEL, ROLE_TAINT
from sandbox.cluster import Sandbox
from tests.sandbox.deployment import Deployment

Kubectl = Callable[..., str]
Eventually = Callable[..., None]

STABLE, CANARY = "qwen3-8b-r1", "qwen3-8b-r2"
NAMED_VALUES = {"internal", "lantau"}


def only_stable(stack: dict[str, Any]) -> None:
    stack["models"]["chat"] = {"pool": "online-a100", "replicas": 2, "stable": STABLE, "overflow": "offline-4090"}


def with_canary(stack: dict[str, Any]) -> None:
    only_stable(stack)
    stack["models"]["chat"]["canary"] = {"release": CANARY, "weight": 5}


def promoted(stack: dict[str, Any]) -> None:
    only_stable(stack)
    stack["models"]["chat"] |= {"stable": CANARY, "previous": STABLE}


def rolled_back(stack: dict[str, Any]) -> None:
    only_stable(stack)
    stack["models"]["chat"] |= {"stable": STABLE, "previous": CANARY}


def overflowing(stack: dict[str, Any]) -> None:
    only_stable(stack)
    stack["models"]["chat"]["replicas"] = 18
    full_batch(stack)


def full_batch(stack: dict[str, Any]) -> None:
    stack["batch"]["embed-archive"] |= {"parallelism": 8, "completions": 64}


def batch_only(stack: dict[str, Any]) -> None:
    only_stable(stack)
    full_batch(stack)


@pytest.fixture(scope="module")
def items(kubectl: Kubectl) -> Callable[..., list[dict[str, Any]]]:
    """Objects of a kind, as kubectl lists them."""

    def listed(kind: str, *arguments: str) -> list[dict[str, Any]]:
        return list(json.loads(kubectl("get", kind, *arguments, "-o", "json"))["items"])

    return listed


def footprint(items: Callable[..., list[dict[str, Any]]]) -> dict[str, Any]:
    """What of a cluster must look the same before `up` and after `destroy`."""
    nodes = {
        node["metadata"]["name"]: (
            dict(node["metadata"]["labels"].items()),
            sorted(map(str, node["spec"].get("taints", []))),
        )
        for node in items("nodes")
    }
    names = {
        kind: sorted(item["metadata"]["name"] for item in items(kind))
        for kind in (
            "namespaces",
            "priorityclasses",
            "clusterroles",
            "clusterrolebindings",
            "customresourcedefinitions",
        )
    }
    return {"nodes": nodes, **names}


@pytest.fixture(scope="module")
def before(items: Callable[..., list[dict[str, Any]]]) -> dict[str, Any]:
    """The cluster as it was found."""
    return footprint(items)


@pytest.fixture(scope="module")
def deployment(sandbox: Sandbox, before: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The platform, not yet deployed; what is left of it at the end goes with the sandbox."""
    return Deployment(sandbox, tmp_path_factory.mktemp("deployment"))


@pytest.fixture(scope="module")
def workloads(items: Callable[..., list[dict[str, Any]]]) -> Callable[[], list[dict[str, Any]]]:
    """Pods of our namespaces that are not done."""

    def pods() -> list[dict[str, Any]]:
        return [
            pod
            for namespace in NAMESPACES
            for pod in items("pods", "-n", namespace)
            if pod["status"]["phase"] not in ("Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"]
        ]

    return pods


def is_ready(pod: dict[str, Any]) -> bool:
    return any(item["type"] == "Ready" and item["status"] == "True" for item in pod["status"].get("conditions", []))


def pods_of(pods: list[dict[str, Any]], release: str) -> list[dict[str, Any]]:
    return [pod for pod in pods if pod["metadata"]["name"].startswith(f"chat-{release}-")]


def test_a_stack_that_breaks_a_policy_is_refused_before_anything_is_created(
    deployment: Deployment, before: dict[str, Any], items: Callable[..., list[dict[str, Any]]]
) -> None:
    def with_a_key_in_a_command(stack: dict[str, Any]) -> None:
        only_stable(stack)
        key = "hf_" + "Zk3vQ8pXw2Lm9RtB7nYc4JdF6gHs1VaE0u"
        stack["batch"]["embed-archive"]["command"] = ["python", "-m", "embed", "--token", key]

    error, printed = deployment.refused(with_a_key_in_a_command)
    assert any(violation.level == "mandatory" for violation in error.outcome.violations), printed[-3000:]
    assert footprint(items) == before
    assert not deployment.secrets()
    assert "Zk3vQ8pXw2Lm9RtB7nYc4JdF6gHs1VaE0u" not in printed.replace("\n", ""), "a refusal never repeats the key"


def test_the_first_up_succeeds_with_the_policy_pack(deployment: Deployment) -> None:
    outcome = deployment.up(only_stable)
    assert len(outcome.policies) >= 9
    assert not [violation for violation in outcome.violations if violation.level == "mandatory"]
    assert outcome.changes["create"] > 40


def test_every_pod_is_admitted_under_restricted_and_ready_on_its_own_pool(
    deployment: Deployment,
    items: Callable[..., list[dict[str, Any]]],
    workloads: Callable[[], list[dict[str, Any]]],
    eventually: Eventually,
) -> None:
    eventually("all pods are Ready", lambda: workloads() and all(map(is_ready, workloads())), timeout=60)
    enforced = {
        namespace["metadata"]["name"]: namespace["metadata"]["labels"].get("pod-security.kubernetes.io/enforce")
        for namespace in items("namespaces")
    }
    assert {enforced[namespace] for namespace in NAMESPACES} == {"restricted"}
    pool_of = {node["metadata"]["name"]: node["metadata"]["labels"][POOL_LABEL] for node in items("nodes")}
    pools: dict[str, set[str]] = {}
    for pod in workloads():
        pools.setdefault(pod["metadata"]["namespace"], set()).add(pool_of[pod["spec"]["nodeName"]])
    assert pools == {
        "lantau-business": {"business"},
        "lantau-vector": {"data"},
        "lantau-inference": {"online-a100"},
        "lantau-batch": {"offline-4090"},
    }


def test_nodes_carry_pool_labels_and_are_closed_to_foreign_pods(items: Callable[..., list[dict[str, Any]]]) -> None:
    for node in items("nodes"):
        role = node["metadata"]["labels"][ROLE_TAINT]
        ours = [taint for taint in node["spec"].get("taints", []) if taint["key"] == ROLE_TAINT]
        wanted = [] if role == "business" else [{"key": ROLE_TAINT, "value": role, "effect": "NoSchedule"}]
        assert ours == wanted, node["metadata"]["name"]


def test_keys_are_made_in_the_managed_store_and_delivered_as_secrets(
    deployment: Deployment, items: Callable[..., list[dict[str, Any]]], eventually: Eventually
) -> None:
    def all_synced() -> bool:
        delivered = [item for namespace in NAMESPACES for item in items("externalsecrets", "-n", namespace)]
        return bool(delivered) and all(
            any(
                part["type"] == "Ready" and part["status"] == "True"
                for part in item.get("status", {}).get("conditions", [])
            )
            for item in delivered
        )

    eventually("every ExternalSecret is synced", all_synced, timeout=60)
    names = {secret["Name"] for secret in deployment.secrets()}
    assert {"lantau/sandbox/business/queue", "lantau/sandbox/vector/api-key"} <= names
    delivered = "".join(
        base64.b64decode(value).decode()
        for namespace in NAMESPACES
        for secret in items("secrets", "-n", namespace)
        for value in secret.get("data", {}).values()
    )
    generated = {value for value in deployment.secret_values() if len(value) >= 16}
    assert generated
    assert [value for value in generated if value in delivered], "pods get the values that the store holds"


def test_a_second_up_changes_nothing(deployment: Deployment) -> None:
    outcome = deployment.up(only_stable)
    assert outcome.changed == 0, outcome.touched()


def test_a_refresh_finds_nothing_changed(deployment: Deployment) -> None:
    outcome = deployment.refresh()
    assert outcome.changed == 0, outcome.touched()


def test_a_foreign_label_and_taint_survive_an_up(deployment: Deployment, kubectl: Kubectl) -> None:
    kubectl("label", "node", "gpu-a100-1", "example.com/rack=7")
    kubectl("taint", "node", "gpu-a100-1", "example.com/maintenance=soon:PreferNoSchedule")
    try:
        deployment.up(only_stable)
        node = json.loads(kubectl("get", "node", "gpu-a100-1", "-o", "json"))
        assert node["metadata"]["labels"]["example.com/rack"] == "7"
        assert {taint["key"] for taint in node["spec"]["taints"]} == {"example.com/maintenance", ROLE_TAINT}
    finally:
        kubectl("label", "node", "gpu-a100-1", "example.com/rack-")
        kubectl("taint", "node", "gpu-a100-1", "example.com/maintenance-")


def route_weights(items: Callable[..., list[dict[str, Any]]]) -> dict[str, int]:
    (route,) = items("httproutes", "-n", "lantau-inference")
    rules = [
        {backend["name"].removeprefix("chat-"): backend["weight"] for backend in rule["backendRefs"]}
        for rule in route["spec"]["rules"]
    ]
    assert all(rule == rules[0] for rule in rules), "every path of a model splits alike"
    return rules[0]


def test_a_canary_takes_five_percent_and_touches_nothing_of_stable(
    deployment: Deployment,
    items: Callable[..., list[dict[str, Any]]],
    workloads: Callable[[], list[dict[str, Any]]],
) -> None:
    stable_before = {pod["metadata"]["uid"] for pod in pods_of(workloads(), STABLE)}
    outcome = deployment.up(with_canary)
    assert route_weights(items) == {STABLE: 95, CANARY: 5}
    assert {pod["metadata"]["uid"] for pod in pods_of(workloads(), STABLE)} == stable_before
    assert outcome.changes["delete"] == 0
    changed = [step for step in outcome.touched() if STABLE in step[1]]
    assert not changed, "stable's own resources stay as they are"
    assert outcome.changes["update"] <= 2, outcome.touched()


def test_a_promotion_moves_the_weights_and_keeps_the_old_release_warm(
    deployment: Deployment,
    items: Callable[..., list[dict[str, Any]]],
    workloads: Callable[[], list[dict[str, Any]]],
    eventually: Eventually,
) -> None:
    old = {pod["metadata"]["uid"] for pod in pods_of(workloads(), STABLE)}
    canaries = {pod["metadata"]["uid"] for pod in pods_of(workloads(), CANARY)}
    outcome = deployment.up(promoted)
    assert route_weights(items) == {CANARY: 100, STABLE: 0}
    eventually("the promoted release has two pods", lambda: len(pods_of(workloads(), CANARY)) == 2)
    assert {pod["metadata"]["uid"] for pod in pods_of(workloads(), STABLE)} == old, (
        "nothing of the old release restarts"
    )
    assert canaries <= {pod["metadata"]["uid"] for pod in pods_of(workloads(), CANARY)}, "the canary's pods go on"
    assert outcome.changed <= 4, outcome.touched()


def test_a_rollback_touches_three_resources_at_most_and_restarts_nothing(
    deployment: Deployment,
    items: Callable[..., list[dict[str, Any]]],
    workloads: Callable[[], list[dict[str, Any]]],
) -> None:
    running = {pod["metadata"]["uid"] for pod in workloads() if pod["metadata"]["namespace"] == "lantau-inference"}
    outcome = deployment.up(rolled_back)
    assert route_weights(items) == {STABLE: 100, CANARY: 0}
    assert 1 <= outcome.changed <= 3, outcome.touched()
    after = {pod["metadata"]["uid"] for pod in workloads() if pod["metadata"]["namespace"] == "lantau-inference"}
    assert after == running


def test_online_pods_that_overflow_preempt_batch_work_on_shared_cards(
    deployment: Deployment,
    items: Callable[..., list[dict[str, Any]]],
    workloads: Callable[[], list[dict[str, Any]]],
    eventually: Eventually,
) -> None:
    def on_shared_cards(namespace: str) -> list[dict[str, Any]]:
        return [
            pod
            for pod in workloads()
            if pod["metadata"]["namespace"] == namespace
            and pod["spec"].get("nodeName") == "gpu-4090-1"
            and is_ready(pod)
        ]

    deployment.up(batch_only)
    eventually("batch fills the shared cards", lambda: len(on_shared_cards("lantau-batch")) == 8, timeout=60)
    deployment.up(overflowing)
    eventually("two online pods run on shared cards", lambda: len(on_shared_cards("lantau-inference")) == 2, timeout=60)
    assert len(on_shared_cards("lantau-batch")) == 6
    preempted = [event for event in items("events", "-n", "lantau-batch") if event["reason"] == "Preempted"]
    assert len(preempted) >= 2
    (job,) = items("jobs", "-n", "lantau-batch")
    assert not any(condition["type"] == "Failed" for condition in job["status"].get("conditions", [])), (
        "preemption does not count as a failure of the job"
    )
    deployment.up(only_stable)


def test_the_audit_log_shows_who_read_which_secret_and_holds_no_value(
    sandbox: Sandbox, deployment: Deployment, kubectl: Kubectl, eventually: Eventually
) -> None:
    reader = sandbox.user_kubeconfig("mei@example.hk", ["system:masters"])
    kubectl("get", "secret", "queue-acl-1", "-n", "lantau-business", "-o", "yaml", kubeconfig=reader)

    def reads() -> list[dict[str, Any]]:
        events = (json.loads(line) for line in sandbox.audit_log.read_text().splitlines() if "mei@example.hk" in line)
        return [
            event
            for event in events
            if event["verb"] == "get" and (event.get("objectRef") or {}).get("name") == "queue-acl-1"
        ]

    eventually("the audit log names the reader", reads)
    (event,) = reads()
    assert event["user"]["username"] == "mei@example.hk"
    assert event["level"] == "Metadata"
    written = sandbox.audit_log.read_text()
    leaked = [value for value in secret_spellings(deployment) if value in written]
    assert not leaked, f"{len(leaked)} values stand in the audit log"


def secret_spellings(deployment: Deployment) -> set[str]:
    """Generated values of the managed store, as they are and as Kubernetes would encode them."""
    values = {value for value in deployment.secret_values() if len(value) >= 16}
    assert values
    return values | {base64.b64encode(value.encode()).decode().rstrip("=") for value in values}


def test_state_logs_and_previews_hold_no_secret_value(sandbox: Sandbox, deployment: Deployment) -> None:
    deployment.configure(with_canary)
    deployment.command.preview(args=["--diff"])
    state = Path(deployment.env["PULUMI_BACKEND_URL"].removeprefix("file://").partition("?")[0])
    places = [
        path for path in [*state.rglob("*"), *sandbox.folder.rglob("*.log"), deployment.transcript] if path.is_file()
    ]
    assert any(path.suffix == ".json" for path in places), "the state file is among them"
    values = [value.encode() for value in secret_spellings(deployment)]
    leaks = [path.name for path in places for value in values if value in path.read_bytes()]
    assert not leaks


def test_destroy_leaves_the_cluster_as_found_and_the_managed_secrets_recoverable(
    deployment: Deployment,
    before: dict[str, Any],
    items: Callable[..., list[dict[str, Any]]],
    eventually: Eventually,
) -> None:
    client = deployment.secrets_manager()
    held = {secret["Name"] for secret in deployment.secrets()}
    values = deployment.secret_values()
    deployment.destroy()
    eventually("namespaces are gone and nodes are bare", lambda: footprint(items) == before, timeout=60)
    planned = {secret["Name"]: secret.get("DeletedDate") for secret in deployment.secrets(planned_for_deletion=True)}
    assert set(planned) == held
    assert all(planned.values()), "each is scheduled for deletion, none is gone"
    for name in held:
        client.restore_secret(SecretId=name)
    assert deployment.secret_values() == values


def test_the_platform_can_be_deployed_again_after_destroy(deployment: Deployment, sandbox: Sandbox) -> None:
    sandbox.free_volumes()
    assert deployment.up(only_stable).changes["create"] > 40
    deployment.destroy()

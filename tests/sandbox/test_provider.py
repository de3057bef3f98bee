"""The lantau provider under the real engine, on a real API server and the sandbox's managed store."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox.cluster import Sandbox
from tests.sandbox.provider_project import STACK, Project

Kubectl = Callable[..., str]
Eventually = Callable[..., None]

KEY = "lantau.internal/role"
FOREIGN = {"key": "site/maintenance", "value": "rack-4", "effect": "PreferNoSchedule"}
ROUTE = {"group": "nobody.example", "kind": "Route", "version": "v1", "addon": "Nobody's gateway", "how": "ask nobody"}


def secret(request: pytest.FixtureRequest, **changes: Any) -> dict[str, Any]:
    """A secret whose name no other test uses."""
    name = f"lantau/{STACK}/test/{request.node.name.removeprefix('test_')[:60]}"
    return {"name": name, "fields": {"password": {}, "user": {"value": "app"}}, **changes}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Iterator[Project]:
    made = Project(tmp_path_factory.mktemp("provider"), sandbox)
    yield made
    made.begin()
    made.destroy()


@pytest.fixture
def project(stack: Project) -> Project:
    """The module's stack, with nothing declared yet."""
    stack.begin()
    return stack


@pytest.fixture
def node(request: pytest.FixtureRequest, kubectl: Kubectl) -> Iterator[str]:
    """A node of this test alone, with a taint that is not ours. Nothing runs on it, so its controllers write to it."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:60].rstrip("-")
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"taints": [FOREIGN]}}
    kubectl("create", "-f", "-", stdin=json.dumps(body))
    yield name
    kubectl("delete", "node", name)


def taints_of(kubectl: Kubectl, node: str) -> list[dict[str, Any]]:
    return list(json.loads(kubectl("get", "node", node, "-o", "json"))["spec"].get("taints") or [])


def test_once_up_nothing_changes_any_more(
    project: Project, request: pytest.FixtureRequest, node: str, kubectl: Kubectl
) -> None:
    project.secrets = {"key": secret(request)}
    project.taints = {"taint": {"node": node, "key": KEY, "value": "online"}}

    assert "create" in project.preview()
    assert {"key": KEY, "value": "online", "effect": "NoSchedule"} not in taints_of(kubectl, node)
    project.up()

    assert {"key": KEY, "value": "online", "effect": "NoSchedule"} in taints_of(kubectl, node)
    assert len(project.value(project.secrets["key"]["name"])["password"]) == 48
    project.up("--expect-no-changes")
    project.refresh("--expect-no-changes")
    project.preview("--expect-no-changes")


def test_no_value_is_ever_written_down(project: Project, request: pytest.FixtureRequest) -> None:
    """State with its history, event logs, printed diffs, even the engine's most talkative log."""
    project.secrets = {"key": secret(request)}
    project.preview()
    project.up("--diff", "--logtostderr", "-v=9")
    project.secrets["key"]["epoch"] = 2
    project.preview("--show-secrets")
    project.up("--diff", "--show-full-output")
    project.refresh()
    project.run("stack", "export", "--show-secrets")
    values = project.generated_values()
    assert len(values) >= 2
    project.destroy()

    written = project.everything_written()
    assert any("history" in path.parts for path in written)
    for value in values:
        forms = {value.encode(), base64.b64encode(value.encode()), value[:24].encode()}
        leaks = [path for path, content in written.items() if any(form in content for form in forms)]
        assert not leaks, "a value was written down"


def test_rotation_keeps_the_previous_version_readable(project: Project, request: pytest.FixtureRequest) -> None:
    project.secrets = {"key": secret(request)}
    name = project.secrets["key"]["name"]
    project.up()
    first = project.value(name)

    project.secrets["key"]["epoch"] = 2
    project.up()

    assert project.value(name, "AWSPREVIOUS") == first
    assert project.value(name)["password"] != first["password"]
    state = project.state()["key"]["outputs"]
    assert state["previousVersionId"] != state["versionId"]
    project.secrets["key"]["epoch"] = 1
    assert "1 is behind the store, which is at 2; to rotate again, set 3" in project.up(fails=True)
    assert project.value(name, "AWSPREVIOUS") == first


def test_a_crash_between_store_and_state_loses_no_secret(project: Project, request: pytest.FixtureRequest) -> None:
    project.secrets = {"interrupted": secret(request)}
    name = project.secrets["interrupted"]["name"]

    project.up_killed_at("CreateSecret")
    made = project.value(name)
    assert "interrupted" not in project.state()
    project.refresh("--clear-pending-creates")
    project.up()

    assert project.value(name) == made
    project.up("--expect-no-changes")


def test_a_crash_during_rotation_rotates_once(project: Project, request: pytest.FixtureRequest) -> None:
    project.secrets = {"key": secret(request)}
    name = project.secrets["key"]["name"]
    project.up()
    first = project.value(name)
    project.secrets["key"]["epoch"] = 2

    project.up_killed_at("PutSecretValue")
    second = project.value(name)
    assert second != first
    project.up()

    assert (project.value(name), project.value(name, "AWSPREVIOUS")) == (second, first)
    project.up("--expect-no-changes")


def test_a_destroyed_secret_comes_back_with_its_value(project: Project, request: pytest.FixtureRequest) -> None:
    project.secrets = {"key": secret(request)}
    name = project.secrets["key"]["name"]
    project.up()
    first = project.value(name)

    project.destroy()
    deleted = project.store().describe_secret(SecretId=name)
    assert (deleted["DeletedDate"] - deleted["LastChangedDate"]).days >= 29
    printed = project.up()

    assert f"secret {name} was scheduled for deletion and has been restored" in printed
    assert project.value(name) == first


def test_a_refresh_sees_a_deletion_by_hand_and_an_update_takes_it_back(
    project: Project, request: pytest.FixtureRequest
) -> None:
    project.secrets = {"key": secret(request)}
    name = project.secrets["key"]["name"]
    project.up()
    first = project.value(name)
    project.store().delete_secret(SecretId=name, RecoveryWindowInDays=7)

    project.refresh()
    assert "key" not in project.state()
    project.up()

    assert project.value(name) == first


def test_a_new_name_makes_the_new_secret_before_the_old_one_goes(
    project: Project, request: pytest.FixtureRequest
) -> None:
    project.secrets = {"key": secret(request)}
    old = project.secrets["key"]["name"]
    project.up()

    project.secrets["key"]["name"] = f"{old}-2"
    project.up()

    new, gone = (project.store().describe_secret(SecretId=name) for name in (f"{old}-2", old))
    assert "DeletedDate" not in new
    assert gone["DeletedDate"] >= new["CreatedDate"]


def test_a_renamed_resource_keeps_secret_and_taint(
    project: Project, request: pytest.FixtureRequest, node: str, kubectl: Kubectl
) -> None:
    """Without an alias the engine makes the new resource, which adopts, and then deletes the old one."""
    taint = {"node": node, "key": KEY, "value": "online"}
    project.secrets, project.taints = {"before": secret(request)}, {"taint-before": taint}
    name = project.secrets["before"]["name"]
    project.up()
    first = project.value(name)

    project.secrets = {"after": project.secrets["before"]}
    project.taints = {"taint-after": taint}
    project.up()

    assert project.value(name) == first
    assert {"key": KEY, "value": "online", "effect": "NoSchedule"} in taints_of(kubectl, node)
    project.up("--expect-no-changes")


def test_a_secret_is_imported_by_name_and_by_arn(project: Project, request: pytest.FixtureRequest) -> None:
    project.secrets = {"key": secret(request)}
    name = project.secrets["key"]["name"]
    project.up()
    first, arn = project.value(name), project.state()["key"]["outputs"]["arn"]
    urn = project.state()["key"]["urn"]

    for handle in (arn, name):
        project.run("state", "delete", urn, "--yes")
        project.secrets["key"]["import"] = handle
        project.up()
        del project.secrets["key"]["import"]
        project.up("--expect-no-changes")

    assert project.value(name) == first


def test_a_foreign_secret_of_the_same_name_is_refused_and_kept(
    project: Project, request: pytest.FixtureRequest
) -> None:
    project.secrets = {"key": secret(request)}
    name = project.secrets["key"]["name"]
    project.store().create_secret(Name=name, SecretString='{"password": "somebody-elses-value-of-some-length"}')
    try:
        printed = project.up(fails=True)
        assert f"secret {name} exists and does not belong to stack {STACK}" in printed
        assert "somebody-elses" not in printed
        assert project.value(name) == {"password": "somebody-elses-value-of-some-length"}
    finally:
        project.store().delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)


def test_foreign_taints_stay_before_during_and_after(
    project: Project, node: str, kubectl: Kubectl, eventually: Eventually
) -> None:
    """Another writer adds and removes its own taints all the while."""
    project.taints = {
        f"taint-{number}": {"node": node, "key": f"lantau.internal/test-{number}", "value": "x", "effect": "NoExecute"}
        for number in range(6)
    }
    ours = {taint["key"] for taint in project.taints.values()}
    stop, kept = threading.Event(), []

    def patch(*operations: dict[str, Any]) -> None:
        kubectl("patch", "node", node, "--type=json", "-p", json.dumps(operations))

    def write() -> None:
        # kubectl's own `taint` writes back the list that it read, and would bring back what was removed meanwhile.
        number = 0
        while not stop.is_set():
            number += 1
            keys = f"writer/kept-{number}", f"writer/gone-{number}"
            for key in keys:
                patch({"op": "add", "path": "/spec/taints/0", "value": {"key": key, "effect": "NoSchedule"}})
            kept.append(keys[0])
            patch(
                {"op": "test", "path": "/spec/taints/0/key", "value": keys[1]},
                {"op": "remove", "path": "/spec/taints/0"},
            )

    writer = threading.Thread(target=write)
    writer.start()
    try:
        eventually("the other writer has begun", lambda: kept)
        project.up()
        during = taints_of(kubectl, node)
        project.destroy()
    finally:
        stop.set()
        writer.join()

    after = taints_of(kubectl, node)
    assert ours <= {taint["key"] for taint in during}
    assert FOREIGN in during
    assert FOREIGN in after
    assert not ours & {taint["key"] for taint in after}
    assert {taint["key"] for taint in after if taint["key"].startswith("writer/")} == set(kept)


def test_a_taint_changes_value_in_place_and_leaves_nothing_behind(
    project: Project, node: str, kubectl: Kubectl
) -> None:
    before = json.loads(kubectl("get", "node", node, "-o", "json"))["metadata"].get("annotations") or {}
    project.taints = {"taint": {"node": node, "key": KEY, "value": "online"}}
    project.up()
    project.taints["taint"]["value"] = "offline"
    project.up()
    assert {"key": KEY, "value": "offline", "effect": "NoSchedule"} in taints_of(kubectl, node)

    project.destroy()

    after = json.loads(kubectl("get", "node", node, "-o", "json"))["metadata"].get("annotations") or {}
    assert KEY not in {taint["key"] for taint in taints_of(kubectl, node)}
    assert set(after) - set(before) <= {"node.alpha.kubernetes.io/ttl"}


def test_a_taint_removed_by_hand_is_put_back_after_a_refresh(project: Project, node: str, kubectl: Kubectl) -> None:
    project.taints = {"taint": {"node": node, "key": KEY, "value": "online"}}
    project.up()
    kubectl("taint", "node", node, f"{KEY}:NoSchedule-")

    project.refresh()
    project.up()

    assert {"key": KEY, "value": "online", "effect": "NoSchedule"} in taints_of(kubectl, node)


def test_a_missing_node_is_one_clear_error(project: Project) -> None:
    project.taints = {"taint": {"node": "nowhere-1", "key": KEY, "value": "online"}}

    printed = project.up(fails=True)

    assert f"there is no node nowhere-1 in context {project.context}; join it to the cluster" in printed
    assert "provider/kube" not in printed


def test_wrong_inputs_are_told_in_preview_with_their_names(project: Project, request: pytest.FixtureRequest) -> None:
    project.secrets = {"key": secret(request, recovery_days=3, fields={"password": {"value": "x"}})}

    printed = project.preview(fails=True)

    assert "recoveryDays" in printed
    assert "3 is out of range; it must be from 7 to 30" in printed
    assert "by its name this is a secret" in printed


def test_the_preflight_answers_in_preview(project: Project, node: str) -> None:
    project.store().create_secret(Name=f"third/{node}", SecretString="{}")
    project.preflight = {
        "required_nodes": [node, f"{node}x"],
        "required_kinds": [
            ROUTE,
            {**ROUTE, "kind": "Gateway"},
            {"group": "apps", "kind": "Deployment", "version": "v1", "addon": "Kubernetes"},
            {"group": "apps", "kind": "Deployment", "version": "v9", "addon": "Kubernetes", "how": "upgrade"},
        ],
        "required_secrets": [f"third/{node}", f"third/{node}x"],
        "cluster_uid": "another",
        "min_server_version": "1.30",
    }
    project.preview()

    told = project.answers()
    assert [problem["code"] for problem in told["problems"]] == [
        "cluster-wrong",
        "api-missing",
        "api-version-missing",
        "node-missing",
        "secret-missing",
    ]
    assert "Gateway nobody.example/v1, Route nobody.example/v1" in told["problems"][1]["message"]
    assert "(served: v1)" in told["problems"][2]["message"]
    nodes = {entry["name"]: entry for entry in told["server"]["nodes"]}
    assert nodes["gpu-a100-1"]["gpus"] == 8
    assert nodes["gpu-a100-1"]["labels"]["nvidia.com/gpu.product"] == "NVIDIA-A100-SXM4-80GB"
    assert FOREIGN in nodes[node]["taints"]


@pytest.mark.parametrize(("context", "code"), [("lantau-nowhere", "context-unknown"), ("", "context-missing")])
def test_a_wrong_context_is_a_problem_and_no_exception(project: Project, context: str, code: str) -> None:
    project.context = context
    project.preflight = {}

    project.preview()

    assert [problem["code"] for problem in project.answers()["problems"]] == [code]
    assert project.answers()["server"] is None


def test_whoever_may_not_look_is_told_what_is_missing(project: Project, sandbox: Sandbox) -> None:
    config = sandbox.user_kubeconfig("nobody")
    project.environment["KUBECONFIG"] = str(config)
    project.preflight = {}

    project.preview()

    told = project.answers()
    assert {problem["code"] for problem in told["problems"]} == {"permission-missing"}
    assert any("nodes is forbidden" in problem["message"] for problem in told["problems"])

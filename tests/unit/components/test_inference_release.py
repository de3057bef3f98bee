"""A running release: its pods, its configuration and its disruption budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from components.inference import ModelRelease, ModelReleaseArgs
from lantau.release import Release
from lantau.release.model import PRE_STOP_SECONDS
from tests.unit.components.inference_stacks import platform
from tests.unit.components.recording import Recorded, record

WORKLOAD = "chat-qwen3-8b-r2"


def running(
    *, replicas: int = 2, surge: bool = True, pools: tuple[str, ...] = ("online-a100",), **sections: Mapping[str, Any]
) -> Recorded:
    """Record release r2 with changes by section."""
    checked = platform({"qwen3-8b-r2": sections})
    args = ModelReleaseArgs(
        model="chat",
        name="qwen3-8b-r2",
        release=checked.release("chat", "qwen3-8b-r2"),
        replicas=replicas,
        pools={name: checked.stack.pools[name] for name in pools},
        surge=surge,
    )
    return record(lambda: ModelRelease(args.workload, args), preview=True)


def release() -> Release:
    return platform().release("chat", "qwen3-8b-r2")


def deployment(recorded: Recorded) -> dict[str, Any]:
    spec: dict[str, Any] = recorded.kubernetes("Deployment", WORKLOAD).inputs["spec"]
    return spec


def pod(recorded: Recorded) -> dict[str, Any]:
    spec: dict[str, Any] = deployment(recorded)["template"]["spec"]
    return spec


def container(recorded: Recorded) -> dict[str, Any]:
    (only,) = pod(recorded)["containers"]
    assert isinstance(only, dict)
    return only


def config_name(recorded: Recorded) -> str:
    (found,) = recorded.of_type("kubernetes:core/v1:ConfigMap")
    return found.kubernetes_name


def test_the_grace_period_exceeds_pre_stop_plus_drain() -> None:
    made = running()
    command = container(made)["command"]
    drain = int(command[command.index("--shutdown-timeout") + 1])
    pre_stop = container(made)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pre_stop == PRE_STOP_SECONDS
    assert pod(made)["terminationGracePeriodSeconds"] > pre_stop + drain


def test_the_pods_are_admitted_under_restricted() -> None:
    made = running()
    assert pod(made)["securityContext"]["runAsNonRoot"] is True
    assert pod(made)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    context = container(made)["securityContext"]
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["readOnlyRootFilesystem"] is True
    kinds = {key for volume in pod(made)["volumes"] for key in volume if key != "name"}
    assert kinds <= {"image", "configMap", "emptyDir"}


def test_the_pods_have_an_account_of_their_own_and_no_token() -> None:
    made = running()
    (account,) = made.of_type("kubernetes:core/v1:ServiceAccount")
    assert account.inputs["automountServiceAccountToken"] is False
    assert pod(made)["serviceAccountName"] == account.kubernetes_name == WORKLOAD
    assert pod(made)["automountServiceAccountToken"] is False


def test_no_service_injects_variables_into_the_engine() -> None:
    assert pod(running())["enableServiceLinks"] is False, "a Service named vllm would set VLLM_PORT"


def test_weights_are_an_image_by_digest_that_nobody_can_write() -> None:
    made = running()
    volume = next(each for each in pod(made)["volumes"] if each["name"] == "weights")
    assert volume["image"] == {"reference": release().model.image, "pullPolicy": "IfNotPresent"}
    assert "@sha256:" in volume["image"]["reference"]
    mount = next(each for each in container(made)["volumeMounts"] if each["name"] == "weights")
    assert mount == {"name": "weights", "mountPath": "/models/weights", "readOnly": True}


def test_every_place_that_the_engine_writes_to_is_bounded() -> None:
    made = running()
    empty = {each["name"]: each["emptyDir"] for each in pod(made)["volumes"] if "emptyDir" in each}
    assert all(volume["sizeLimit"] for volume in empty.values()), "an unbounded directory fills the node's disk"
    mounts = {each["mountPath"]: each["name"] for each in container(made)["volumeMounts"] if not each["readOnly"]}
    assert set(mounts.values()) == set(empty)
    assert {"/tmp", "/dev/shm", "/cache"} == set(mounts)  # noqa: S108 - paths in a pod
    written = [each["value"] for each in container(made)["env"] if each["value"].startswith("/")]
    assert written
    assert all(path.startswith("/cache") for path in written)


def test_the_disk_that_the_engine_may_fill_is_its_own_from_the_start() -> None:
    made = running()
    on_disk = sum(
        int(each["emptyDir"]["sizeLimit"].removesuffix("Gi"))
        for each in pod(made)["volumes"]
        if "emptyDir" in each and each["emptyDir"].get("medium") != "Memory"
    )
    for side in ("requests", "limits"):
        promised = container(made)["resources"][side]["ephemeral-storage"]
        assert int(promised.removesuffix("Gi")) > on_disk, "logs come on top"


def test_shared_memory_is_as_large_as_the_release_says() -> None:
    made = running(resources={"shared_memory_gib": 7})
    volume = next(each for each in pod(made)["volumes"] if each["name"] == "shared-memory")
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "7Gi"}


def test_cards_are_requested_as_many_as_the_release_spans() -> None:
    made = running(parameters={"tensor_parallel_size": 4})
    for side in ("requests", "limits"):
        assert container(made)["resources"][side] == {
            "cpu": "8",
            "memory": "49152Mi",
            "nvidia.com/gpu": "4",
            "ephemeral-storage": "25Gi",
        }


def test_probes_ask_the_engine_itself() -> None:
    found = container(running())
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert found[probe]["httpGet"] == {"path": "/health", "port": "http"}
    assert found["startupProbe"]["failureThreshold"] * found["startupProbe"]["periodSeconds"] >= 600
    assert 1 <= found["readinessProbe"]["periodSeconds"] <= 5
    assert found["ports"] == [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]


def test_online_pods_may_push_out_batch_work() -> None:
    assert pod(running())["priorityClassName"] == "lantau-online"


def test_the_pods_stay_on_their_pool() -> None:
    affinity = pod(running())["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "lantau.internal/pool", "operator": "In", "values": ["online-a100"]}]
    assert pod(running())["tolerations"] == [
        {"key": "lantau.internal/role", "operator": "Equal", "value": "online", "effect": "NoSchedule"}
    ]


def test_the_overflow_pool_is_second_choice() -> None:
    made = running(pools=("online-a100", "offline-4090"))
    affinity = pod(made)["affinity"]["nodeAffinity"]
    (preferred,) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert preferred["preference"]["matchExpressions"][0]["values"] == ["online-a100"]
    assert {each["value"] for each in pod(made)["tolerations"]} == {"online", "offline"}


def test_the_pods_are_spread_over_nodes() -> None:
    made = running()
    (constraint,) = pod(made)["topologySpreadConstraints"]
    assert constraint["topologyKey"] == "kubernetes.io/hostname"
    assert constraint["labelSelector"] == deployment(made)["selector"]


def test_cards_without_p2p_are_told_so() -> None:
    made = running(pools=("offline-4090",), parameters={"tensor_parallel_size": 2})
    assert {"name": "NCCL_P2P_DISABLE", "value": "1"} in container(made)["env"]
    (config,) = made.of_type("kubernetes:core/v1:ConfigMap")
    assert "disable-custom-all-reduce: true" in config.inputs["data"]["engine.yaml"]


def test_the_configuration_is_immutable_and_read_by_the_engine() -> None:
    made = running()
    (config,) = made.of_type("kubernetes:core/v1:ConfigMap")
    assert config.inputs["immutable"] is True
    assert set(config.inputs["data"]) == {"engine.yaml", "release.yaml"}
    volume = next(each for each in pod(made)["volumes"] if each["name"] == "config")
    assert volume["configMap"] == {"name": config.kubernetes_name}
    command = container(made)["command"]
    assert command[command.index("--config") + 1] == "/etc/lantau/engine.yaml"


@pytest.mark.parametrize(
    "sections",
    [
        {"parameters": {"max_num_seqs": 65}},
        {"limits": {"answer_tokens": 1024}},
        {"model": {"name": "another"}},
        {"engine": {"version": "0.20.0"}},
    ],
)
def test_another_content_is_another_configuration(sections: dict[str, Any]) -> None:
    assert config_name(running()) != config_name(running(**sections)), "pods must roll when what they read changes"


def test_more_pods_are_the_same_configuration() -> None:
    few, many = running(replicas=2), running(replicas=8)
    assert config_name(few) == config_name(many)
    assert pod(few) == pod(many)


def test_a_budget_keeps_all_but_one_pod_during_a_drain() -> None:
    (budget,) = running().of_type("kubernetes:policy/v1:PodDisruptionBudget")
    assert budget.inputs["spec"]["maxUnavailable"] == 1
    assert budget.inputs["spec"]["selector"] == deployment(running())["selector"]
    assert budget.inputs["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_a_single_pod_has_no_budget_that_would_hold_a_drain_for_ever() -> None:
    assert not running(replicas=1).of_type("kubernetes:policy/v1:PodDisruptionBudget")


def test_the_provider_waits_as_long_as_the_roll_out_may_take() -> None:
    made = running(replicas=3)
    found = made.kubernetes("Deployment", WORKLOAD)
    seconds = int(found.timeouts.update.removesuffix("s"))
    assert seconds >= 3 * deployment(made)["progressDeadlineSeconds"]
    assert found.timeouts.create == found.timeouts.update == found.timeouts.delete


def test_the_service_is_not_waited_for_because_the_pods_are() -> None:
    (service,) = running().of_type("kubernetes:core/v1:Service")
    assert service.inputs["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    assert service.inputs["spec"]["ports"] == [{"name": "http", "port": 8000, "targetPort": "http", "protocol": "TCP"}]


def test_the_service_finds_the_pods_of_its_release_only() -> None:
    made = running()
    (service,) = made.of_type("kubernetes:core/v1:Service")
    assert service.inputs["spec"]["selector"] == deployment(made)["selector"]["matchLabels"]
    assert service.inputs["spec"]["selector"]["lantau.internal/release"] == "qwen3-8b-r2"


def test_a_preview_on_an_empty_cluster_knows_everything() -> None:
    assert "UNKNOWN" not in repr(running().resources)

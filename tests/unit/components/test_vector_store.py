"""The vector store: its data, its key, its peers, and who reaches it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.vector import VectorStore, VectorStoreArgs
from lantau.platform import Platform
from tests.unit.components.business_stacks import Changes, container, environment, pod, previewed
from tests.unit.components.recording import Recorded, Resource

NAMESPACE = "lantau-vector"
THREE: Changes = {"vector": {"replicas": 3}}


def store(changes: Changes | None = None) -> Recorded:
    return previewed(_program, changes)


def _program(platform: Platform) -> object:
    return VectorStore("vector", VectorStoreArgs(platform))


def stateful_set(changes: Changes | None = None) -> Resource:
    return store(changes).kubernetes("StatefulSet", "qdrant", NAMESPACE)


@pytest.mark.parametrize("protect", [True, False])
def test_volumes_and_key_are_protected_as_the_stack_says(protect: bool) -> None:
    recorded = store({"protect_data": protect, **THREE})
    claims = recorded.of_type("kubernetes:core/v1:PersistentVolumeClaim")
    assert [each.kubernetes_name for each in claims] == [f"storage-qdrant-{n}" for n in range(3)]
    assert {each.protect for each in claims} == {protect}
    assert recorded.one("lantau:index:ManagedSecret").protect is protect


def test_the_stateful_set_takes_the_declared_claims_by_name() -> None:
    spec = stateful_set(THREE).inputs["spec"]
    (template,) = spec["volumeClaimTemplates"]
    claims = store(THREE).of_type("kubernetes:core/v1:PersistentVolumeClaim")
    wanted = {f"{template['metadata']['name']}-qdrant-{ordinal}" for ordinal in range(spec["replicas"])}
    assert {each.kubernetes_name for each in claims} == wanted
    assert {each.namespace for each in claims} == {NAMESPACE}
    assert all(each.inputs["spec"] == template["spec"] for each in claims)


def test_the_claims_outlive_the_stateful_set() -> None:
    spec = stateful_set().inputs["spec"]
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}


def test_a_larger_volume_grows_the_claims_and_replaces_nothing() -> None:
    larger = store({"vector": {"storage_gib": 300}})
    claim = larger.kubernetes("PersistentVolumeClaim", "storage-qdrant-0")
    assert claim.inputs["spec"]["resources"]["requests"] == {"storage": "300Gi"}
    assert larger.kubernetes("StatefulSet", "qdrant").ignore_changes == ("spec.volumeClaimTemplates",)


def test_the_data_is_on_the_volume_and_the_snapshots_too() -> None:
    found = environment(stateful_set())
    assert found["QDRANT__STORAGE__STORAGE_PATH"] == "/qdrant/storage"
    assert found["QDRANT__STORAGE__SNAPSHOTS_PATH"].startswith("/qdrant/storage/")
    mounts = {each["name"]: each["mountPath"] for each in container(stateful_set())["volumeMounts"]}
    assert mounts["storage"] == "/qdrant/storage"


def test_nothing_else_can_be_written_to_but_what_qdrant_needs_at_start() -> None:
    found = container(stateful_set())
    assert found["securityContext"]["readOnlyRootFilesystem"] is True
    writable = {each["mountPath"] for each in found["volumeMounts"] if not each.get("readOnly")}
    assert writable == {"/qdrant/storage", "/qdrant/init", "/tmp"}  # noqa: S108 - an emptyDir
    # Qdrant panics when it cannot write this file, by default next to its program.
    assert environment(stateful_set())["QDRANT_INIT_FILE_PATH"].startswith("/qdrant/init/")


def test_its_user_is_none_that_a_host_may_have() -> None:
    context = pod(stateful_set())["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"], context["fsGroup"]) == (10001, 10001, 10001)


def test_the_key_is_in_a_file_that_the_pod_can_not_start_without() -> None:
    (volume,) = (each["secret"] for each in pod(stateful_set())["volumes"] if "secret" in each)
    assert volume["secretName"] == "qdrant-config-1"
    assert volume["items"] == [{"key": "local.yaml", "path": "local.yaml"}]
    assert "optional" not in volume
    arguments = container(stateful_set())["args"]
    assert arguments[arguments.index("--config-path") + 1] == "/run/secrets/lantau/local.yaml"


def test_the_delivered_file_sets_the_api_key_from_the_managed_store() -> None:
    (delivery,) = (each for each in store().resources if each.type.endswith(":ExternalSecret"))
    spec = delivery.inputs["spec"]
    assert spec["target"]["template"]["data"] == {"local.yaml": 'service:\n  api_key: "{{ .key }}"\n'}
    (value,) = spec["data"]
    assert (value["remoteRef"]["key"], value["remoteRef"]["property"]) == ("lantau/sandbox/vector/api-key", "key")


def test_no_variable_holds_or_fetches_a_key() -> None:
    for each in container(stateful_set(THREE))["env"]:
        assert "KEY" not in each["name"]
        assert "secretKeyRef" not in each.get("valueFrom", {})


def test_a_new_epoch_is_another_secret_and_rolls_the_peers() -> None:
    volumes = pod(stateful_set({"secrets": {"epoch": 2}}))["volumes"]
    assert [each["secret"]["secretName"] for each in volumes if "secret" in each] == ["qdrant-config-2"]


def test_nothing_is_reported_to_the_makers_and_no_web_page_is_served() -> None:
    found = environment(stateful_set())
    assert found["QDRANT__TELEMETRY_DISABLED"] == "true"
    assert found["QDRANT__SERVICE__ENABLE_STATIC_CONTENT"] == "false"
    assert found["QDRANT__SERVICE__ENABLE_CORS"] == "false"


def test_probes_ask_the_paths_that_are_open_without_the_key() -> None:
    found = container(stateful_set())
    paths = {kind: found[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
    assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}


def test_a_larger_store_gets_more_time_to_open_its_collections() -> None:
    def startup(gib: int) -> int:
        probe = container(stateful_set({"vector": {"storage_gib": gib}}))["startupProbe"]
        return int(probe["periodSeconds"] * probe["failureThreshold"])

    assert startup(1000) - startup(100) >= 900 * 2
    assert int(stateful_set({"vector": {"storage_gib": 1000}}).timeouts.create.removesuffix("s")) > startup(1000)


def test_one_peer_is_no_cluster() -> None:
    recorded = store({"vector": {"replicas": 1}})
    workload = recorded.kubernetes("StatefulSet", "qdrant")
    assert environment(workload)["QDRANT__CLUSTER__ENABLED"] == "false"
    assert "--uri" not in container(workload)["args"]
    assert recorded.of_type("kubernetes:policy/v1:PodDisruptionBudget") == []
    assert {each["name"] for each in container(workload)["ports"]} == {"http", "grpc"}


def test_peers_join_the_first_under_their_own_names_without_a_shell() -> None:
    found = container(stateful_set(THREE))
    assert found["command"] == ["./qdrant"]
    arguments = dict(zip(found["args"][::2], found["args"][1::2], strict=True))
    assert arguments["--uri"] == "http://$(POD_NAME).qdrant-peers.lantau-vector.svc:6335"
    assert arguments["--bootstrap"] == "http://qdrant-0.qdrant-peers.lantau-vector.svc:6335"
    (pod_name,) = (each for each in found["env"] if each["name"] == "POD_NAME")
    assert pod_name["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}
    assert environment(stateful_set(THREE))["QDRANT__CLUSTER__ENABLED"] == "true"


def test_peers_find_each_other_before_they_are_ready_and_start_together() -> None:
    peers = store(THREE).kubernetes("Service", "qdrant-peers", NAMESPACE).inputs["spec"]
    assert peers["clusterIP"] == "None"
    assert peers["publishNotReadyAddresses"] is True
    spec = stateful_set(THREE).inputs["spec"]
    assert spec["serviceName"] == "qdrant-peers"
    assert spec["podManagementPolicy"] == "Parallel", "after a power cut none is ready before most others run"


def test_what_can_not_be_changed_later_is_the_same_for_one_peer_and_for_three() -> None:
    one, three = stateful_set().inputs["spec"], stateful_set(THREE).inputs["spec"]
    for field in ("serviceName", "podManagementPolicy", "selector", "volumeClaimTemplates"):
        assert one[field] == three[field], field


def test_losing_a_node_loses_no_collection() -> None:
    assert environment(stateful_set(THREE))["QDRANT__STORAGE__COLLECTION__REPLICATION_FACTOR"] == "2"
    (spread,) = pod(stateful_set(THREE))["topologySpreadConstraints"]
    assert (spread["whenUnsatisfiable"], spread["maxSkew"]) == ("DoNotSchedule", 1)
    budget = store(THREE).kubernetes("PodDisruptionBudget", "qdrant", NAMESPACE).inputs["spec"]
    assert budget["maxUnavailable"] == 1
    assert budget["unhealthyPodEvictionPolicy"] == "IfHealthyBudget"


def test_the_service_offers_rest_and_grpc() -> None:
    service = store().kubernetes("Service", "qdrant", NAMESPACE).inputs["spec"]
    assert {each["name"]: each["port"] for each in service["ports"]} == {"http": 6333, "grpc": 6334}
    assert service["selector"].items() <= stateful_set().inputs["spec"]["template"]["metadata"]["labels"].items()


def callers(policy: str) -> dict[str, list[int]]:
    spec: dict[str, Any] = store(THREE).kubernetes("NetworkPolicy", policy, NAMESPACE).inputs["spec"]
    (rule,) = spec["ingress"]
    return {
        peer["podSelector"]["matchLabels"]["app.kubernetes.io/name"]: [each["port"] for each in rule["ports"]]
        for peer in rule["from"]
    }


def test_only_the_backend_and_other_peers_reach_it() -> None:
    assert callers("qdrant-from-backend") == {"backend": [6333, 6334]}
    assert callers("qdrant-from-peers") == {"qdrant": [6333, 6335]}


def test_it_goes_nowhere_but_to_its_peers() -> None:
    policies = store(THREE).of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
    outgoing = [each.kubernetes_name for each in policies if "Egress" in each.inputs["spec"]["policyTypes"]]
    assert outgoing == ["qdrant-to-peers"]


def test_it_runs_on_the_data_pool_and_tolerates_nothing_else() -> None:
    spec = pod(stateful_set())
    assert spec["tolerations"] == [
        {"key": "lantau.internal/role", "operator": "Equal", "value": "data", "effect": "NoSchedule"}
    ]
    assert spec["priorityClassName"] == "lantau-standard"


def test_its_cpus_follow_from_the_machine_and_its_memory_from_the_stack() -> None:
    found = container(stateful_set({"vector": {"memory_gib": 64}}))["resources"]
    equal = {"memory": "65536Mi", "ephemeral-storage": "3Gi"}
    assert found == {"requests": {"cpu": "4", **equal}, "limits": {"cpu": "12", **equal}}


def test_the_peers_start_after_their_key_is_delivered() -> None:
    recorded = store()
    (delivery,) = (each for each in recorded.resources if each.type.endswith(":ExternalSecret"))
    assert delivery.urn in recorded.kubernetes("StatefulSet", "qdrant").depends_on


def test_the_name_of_the_secret_is_its_own_in_the_namespace() -> None:
    names = [each.kubernetes_name for each in store(THREE).resources if each.type.endswith((":Service", ":ConfigMap"))]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9-]{1,63}", name) for name in names)

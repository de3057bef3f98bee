"""The backend's contract: what the team's image is given, where it can go, and how it is replaced."""

from __future__ import annotations

from typing import Any

from components.business import Backend, BackendArgs
from components.secrets import RemoteField
from lantau.platform import Platform
from tests.unit.components.business_stacks import PROJECT, Changes, container, environment, platform, pod, previewed
from tests.unit.components.recording import Recorded, Resource

NAMESPACE = "lantau-business"
KEYS = "/run/secrets/lantau"


def backend(changes: Changes | None = None) -> Recorded:
    return previewed(_program, changes)


def _program(platform: Platform) -> object:
    return Backend("backend", BackendArgs(platform, RemoteField("lantau/sandbox/business/queue", "password")))


def deployment(changes: Changes | None = None) -> Resource:
    return backend(changes).kubernetes("Deployment", "backend", NAMESPACE)


def test_the_environment_tells_addresses_and_where_keys_lie() -> None:
    assert environment(deployment()) == {
        "PORT": "8080",
        "INFERENCE_URL": "http://inference-gateway.envoy-gateway-system.svc:8080",
        "INFERENCE_MODELS": "chat",
        "QUEUE_HOST": "queue.lantau-business.svc",
        "QUEUE_PORT": "6379",
        "QUEUE_USER": "backend",
        "QUEUE_PASSWORD_FILE": f"{KEYS}/queue-password",
        "VECTOR_URL": "http://qdrant.lantau-vector.svc:6333",
        "VECTOR_GRPC": "qdrant.lantau-vector.svc:6334",
        "VECTOR_API_KEY_FILE": f"{KEYS}/vector-api-key",
        "HOME": "/tmp",  # noqa: S108 - an emptyDir
    }


def test_the_documented_contract_names_every_variable() -> None:
    text = (PROJECT / "docs/backend-contract.md").read_text(encoding="utf-8")
    assert [name for name in environment(deployment()) if f"`{name}`" not in text] == []


def test_no_variable_comes_from_a_secret() -> None:
    assert all(set(each) == {"name", "value"} for each in container(deployment())["env"])
    assert "envFrom" not in container(deployment())


def test_keys_are_read_only_files() -> None:
    (mount,) = (each for each in container(deployment())["volumeMounts"] if each["mountPath"] == KEYS)
    assert mount["readOnly"] is True
    (volume,) = (each["secret"] for each in pod(deployment())["volumes"] if each["name"] == mount["name"])
    assert volume["secretName"] == "backend-keys-1"
    assert {each["path"] for each in volume["items"]} == {"queue-password", "vector-api-key"}
    assert volume["defaultMode"] == 0o440


def test_keys_are_delivered_from_the_queues_and_the_vector_stores_own_secrets() -> None:
    (delivered,) = (each for each in backend().resources if each.type.endswith(":ExternalSecret"))
    spec = delivered.inputs["spec"]
    assert spec["target"]["name"] == "backend-keys-1"
    remote = {each["secretKey"]: (each["remoteRef"]["key"], each["remoteRef"]["property"]) for each in spec["data"]}
    assert remote == {
        "queue": ("lantau/sandbox/business/queue", "password"),
        "vector": ("lantau/sandbox/vector/api-key", "key"),
    }


def test_a_new_epoch_rolls_the_pods_onto_its_keys() -> None:
    volumes = pod(deployment({"secrets": {"epoch": 2}}))["volumes"]
    assert [each["secret"]["secretName"] for each in volumes if "secret" in each] == ["backend-keys-2"]


def test_only_tmp_can_be_written_to() -> None:
    found = container(deployment())
    assert found["securityContext"]["readOnlyRootFilesystem"] is True
    writable = {each["mountPath"] for each in found["volumeMounts"] if not each.get("readOnly")}
    assert writable == {"/tmp"}  # noqa: S108 - an emptyDir


def test_probes_ask_the_health_path_on_the_containers_port() -> None:
    found = container(deployment({"business": {"backend": {"port": 9000, "health_path": "/up"}}}))
    assert found["ports"] == [{"name": "http", "containerPort": 9000, "protocol": "TCP"}]
    for kind in ("startup", "liveness", "readiness"):
        assert found[f"{kind}Probe"]["httpGet"] == {"path": "/up", "port": "http"}


def test_a_pod_that_ends_may_finish_the_longest_answer() -> None:
    longest = max(release.limits.longest_answer_seconds for release in platform().releases.values())
    pre_stop = container(deployment())["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pre_stop >= 5, "the proxies need a moment to learn that the pod goes"
    assert pod(deployment())["terminationGracePeriodSeconds"] > pre_stop + longest


def test_a_roll_out_never_has_fewer_pods_than_the_stack_asks_for() -> None:
    strategy = deployment().inputs["spec"]["strategy"]["rollingUpdate"]
    assert strategy == {"maxSurge": 1, "maxUnavailable": 0}


def test_two_pods_get_a_disruption_budget_and_one_gets_none() -> None:
    budget = backend().kubernetes("PodDisruptionBudget", "backend", NAMESPACE).inputs["spec"]
    assert budget["maxUnavailable"] == 1
    assert budget["selector"] == deployment().inputs["spec"]["selector"]
    single = backend({"business": {"backend": {"replicas": 1}}})
    assert single.of_type("kubernetes:policy/v1:PodDisruptionBudget") == []


def test_resources_are_the_stacks() -> None:
    found = container(deployment({"business": {"backend": {"cpus": 3, "memory_gib": 5}}}))["resources"]
    # Two GiB of scratch and one of logs are on the node's disk.
    equal = {"memory": "5120Mi", "ephemeral-storage": "3Gi"}
    assert found == {"requests": {"cpu": "3", **equal}, "limits": {"cpu": "6", **equal}}


def test_the_service_leads_to_the_deployments_pods() -> None:
    service = backend().kubernetes("Service", "backend", NAMESPACE).inputs["spec"]
    labels = deployment().inputs["spec"]["template"]["metadata"]["labels"]
    assert service["type"] == "ClusterIP"
    assert service["selector"].items() <= labels.items()
    assert [(each["port"], each["targetPort"]) for each in service["ports"]] == [(8080, "http")]


def flows(direction: str) -> list[tuple[str, str, list[int]]]:
    """Namespace and name label of the other end, and ports, of every flow of the backend in a direction."""
    found: list[tuple[str, str, list[int]]] = []
    for policy in backend().of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy"):
        spec: dict[str, Any] = policy.inputs["spec"]
        assert spec["podSelector"]["matchLabels"]["app.kubernetes.io/name"] == "backend"
        for rule in spec.get(direction, []):
            for peer in rule["from" if direction == "ingress" else "to"]:
                labels = peer["podSelector"]["matchLabels"]
                found.append(
                    (
                        peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"],
                        labels.get("app.kubernetes.io/name") or labels["gateway.envoyproxy.io/owning-gateway-name"],
                        [each["port"] for each in rule["ports"]],
                    )
                )
    return sorted(found)


def test_the_backend_reaches_queue_vector_store_and_models_and_nothing_else() -> None:
    assert flows("egress") == [
        ("envoy-gateway-system", "inference", [8080]),
        ("lantau-business", "queue", [6379]),
        ("lantau-vector", "qdrant", [6333, 6334]),
    ]


def test_only_the_edge_gateways_proxies_reach_the_backend() -> None:
    assert flows("ingress") == [("envoy-gateway-system", "edge", [8080])]

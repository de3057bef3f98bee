"""The task queue: what it keeps, who reaches it, what its users may do, and how it is known to be alive."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.business import TaskQueue, TaskQueueArgs
from components.business.queue import redis_config
from lantau.platform import Platform
from tests.unit.components.business_stacks import Changes, container, pod, previewed
from tests.unit.components.recording import Recorded, Resource

NAMESPACE = "lantau-business"


def queue(changes: Changes | None = None) -> Recorded:
    return previewed(_program, changes)


def _program(platform: Platform) -> object:
    return TaskQueue("queue", TaskQueueArgs(platform))


def stateful_set(changes: Changes | None = None) -> Resource:
    return queue(changes).kubernetes("StatefulSet", "queue", NAMESPACE)


def acl_file() -> str:
    (delivery,) = (each for each in queue().resources if each.type.endswith(":ExternalSecret"))
    template: dict[str, str] = delivery.inputs["spec"]["target"]["template"]["data"]
    return template["users.acl"]


def acl_users() -> dict[str, list[str]]:
    return {line.split()[1]: line.split()[2:] for line in acl_file().splitlines()}


@pytest.mark.parametrize("protect", [True, False])
def test_the_volume_and_the_password_are_protected_as_the_stack_says(protect: bool) -> None:
    recorded = queue({"protect_data": protect})
    assert recorded.kubernetes("PersistentVolumeClaim", "data-queue-0").protect is protect
    assert recorded.one("lantau:index:ManagedSecret").protect is protect


def test_the_pod_uses_the_claim_that_is_declared_beside_it() -> None:
    claim = queue().kubernetes("PersistentVolumeClaim", "data-queue-0", NAMESPACE)
    assert claim.inputs["spec"]["resources"]["requests"] == {"storage": "20Gi"}
    assert claim.inputs["spec"]["storageClassName"] == "local-nvme"
    volumes = [
        each["persistentVolumeClaim"] for each in pod(stateful_set())["volumes"] if "persistentVolumeClaim" in each
    ]
    assert volumes == [{"claimName": "data-queue-0"}]
    assert "volumeClaimTemplates" not in stateful_set().inputs["spec"], "a larger volume must not replace the pod's set"


def test_nobody_waits_for_a_volume_that_binds_to_its_first_consumer() -> None:
    claim = queue().kubernetes("PersistentVolumeClaim", "data-queue-0")
    assert claim.inputs["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def config(changes: Changes | None = None) -> tuple[str, dict[str, str], bool]:
    found = queue(changes).one("kubernetes:core/v1:ConfigMap")
    lines = [line.partition(" ") for line in found.inputs["data"]["redis.conf"].splitlines()]
    return found.kubernetes_name, {key: value for key, _, value in lines}, found.inputs["immutable"]


def test_tasks_are_on_disk_and_never_evicted() -> None:
    _, settings, _ = config()
    assert settings["appendonly"] == "yes"
    assert settings["dir"] == "/data"
    assert settings["maxmemory-policy"] == "noeviction"


def test_redis_gets_three_quarters_of_the_pods_memory() -> None:
    _, settings, _ = config({"business": {"queue": {"memory_gib": 4}}})
    assert settings["maxmemory"] == "3072mb"
    assert (
        container(stateful_set({"business": {"queue": {"memory_gib": 4}}}))["resources"]["limits"]["memory"] == "4096Mi"
    )


def test_a_changed_configuration_is_another_immutable_config_map_and_rolls_the_pod() -> None:
    (before, _, immutable), (after, _, _) = config(), config({"business": {"queue": {"memory_gib": 8}}})
    assert immutable
    assert before != after
    volumes = pod(stateful_set({"business": {"queue": {"memory_gib": 8}}}))["volumes"]
    assert [each["configMap"]["name"] for each in volumes if "configMap" in each] == [after]


def test_the_configuration_names_the_acl_file_and_holds_no_password() -> None:
    text = redis_config(4)
    assert "aclfile /run/secrets/lantau/users.acl\n" in text
    assert "protected-mode yes\n" in text
    assert not re.search(r"requirepass|masterauth|\buser\b", text)


def test_a_caller_without_a_name_can_do_nothing() -> None:
    rules = acl_users()["default"]
    assert rules[0] == "off"
    assert "nopass" not in rules
    assert rules[-1] == "-@all"


def test_only_the_user_of_the_probe_has_no_password_and_it_can_only_ping() -> None:
    open_users = {name: rules for name, rules in acl_users().items() if "nopass" in rules}
    assert open_users == {"probe": ["on", "nopass", "resetkeys", "resetchannels", "-@all", "+ping"]}


def test_the_backend_can_not_administrate_the_queue() -> None:
    rules = acl_file().splitlines()[2].partition("~*")[2].split()
    assert rules == ["&*", "+@all", "-@admin", "-@dangerous", "+info"]


def test_the_queue_knows_the_password_by_its_digest_only() -> None:
    text = acl_file()
    assert "#{{ .password | sha256sum }} " in text
    assert text.count("{{") == 1


def test_a_new_epoch_is_another_secret_and_rolls_the_pod() -> None:
    def mounted(epoch: int) -> str:
        volumes = pod(stateful_set({"secrets": {"epoch": epoch}}))["volumes"]
        return "".join(each["secret"]["secretName"] for each in volumes if "secret" in each)

    assert [mounted(1), mounted(2)] == ["queue-acl-1", "queue-acl-2"]


def commands() -> dict[str, list[str]]:
    found = container(stateful_set())
    return {kind: found[f"{kind}Probe"]["exec"]["command"] for kind in ("liveness", "readiness")}


def test_probes_ask_redis_itself_and_carry_no_password() -> None:
    assert commands() == {
        "liveness": ["redis-cli", "-p", "6379", "ping"],
        "readiness": ["redis-cli", "-p", "6379", "-e", "--no-auth-warning", "--user", "probe", "--pass", "", "ping"],
    }
    assert "env" not in container(stateful_set())


def test_liveness_takes_a_refusal_for_life_and_readiness_does_not() -> None:
    # `-e` is what makes an error of the server a failure of the probe.
    assert "-e" not in commands()["liveness"]
    assert "-e" in commands()["readiness"]


def test_only_the_backend_reaches_the_queue() -> None:
    policy = queue().one("kubernetes:networking.k8s.io/v1:NetworkPolicy").inputs["spec"]
    selected = policy["podSelector"]["matchLabels"]
    assert selected.items() <= stateful_set().inputs["spec"]["template"]["metadata"]["labels"].items()
    (rule,) = policy["ingress"]
    assert rule["ports"] == [{"port": 6379, "protocol": "TCP"}]
    (peer,) = rule["from"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": NAMESPACE}
    assert peer["podSelector"]["matchLabels"]["app.kubernetes.io/name"] == "backend"


def test_the_pod_runs_on_the_business_pool_under_its_own_account() -> None:
    spec = pod(stateful_set())
    terms: list[dict[str, Any]] = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert [each["values"] for term in terms for each in term["matchExpressions"]] == [["business"]]
    assert spec["serviceAccountName"] == "queue"
    assert queue().kubernetes("ServiceAccount", "queue").inputs["automountServiceAccountToken"] is False
    assert spec["priorityClassName"] == "lantau-standard"


def test_only_the_data_volume_can_be_written_to() -> None:
    found = container(stateful_set())
    assert found["securityContext"]["readOnlyRootFilesystem"] is True
    assert [each["mountPath"] for each in found["volumeMounts"] if not each.get("readOnly")] == ["/data"]


def test_the_stateful_set_has_the_headless_service_that_it_must_have() -> None:
    recorded = queue()
    governing = recorded.kubernetes("Service", stateful_set().inputs["spec"]["serviceName"], NAMESPACE)
    assert governing.inputs["spec"]["clusterIP"] == "None"
    assert "clusterIP" not in recorded.kubernetes("Service", "queue", NAMESPACE).inputs["spec"]


def test_the_pod_starts_after_its_password_is_delivered() -> None:
    recorded = queue()
    (delivery,) = (each for each in recorded.resources if each.type.endswith(":ExternalSecret"))
    assert delivery.urn in recorded.kubernetes("StatefulSet", "queue").depends_on

"""KEY-01 to KEY-09: each place has its own rule, and every rule finds every kind of key."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, deployment, listed, pod, pod_spec
from tests.policy.samples import (
    CERTIFICATE,
    CLEAN_DOCUMENTS,
    CLEAN_NAMED,
    DOCUMENTS,
    NAMED,
    PEM,
    SHAPED,
    URLS,
    WORD,
    b64,
    some,
)

PAIRS = [*NAMED, *(("NOTE", value) for value in [*SHAPED, *URLS])]


def env(name: str, value: Any) -> dict[str, Any]:
    return container(env=[{"name": "HOME", "value": "/"}, {"name": name, "value": value}])


def config_map(name: str, value: Any, field: str = "data") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app"}, field: {name: value}}


@pytest.mark.parametrize(("name", "value"), PAIRS)
def test_a_key_in_the_environment_is_found(name: str, value: str) -> None:
    outcome = judge("KEY-01", pod(pod_spec(containers=[env(name, value)])))
    assert outcome.paths == ["spec.containers[0].env[1].value"]
    assert value[:14] not in str(outcome.messages) or value == "postgres"


@pytest.mark.parametrize("hold", POD_HOLDERS)
@pytest.mark.parametrize("where", ["containers", "initContainers", "ephemeralContainers"])
def test_every_container_list_of_every_kind_is_read(hold: Any, where: str) -> None:
    assert fires("KEY-01", hold(pod_spec(**{where: [container(), env("DB_PASSWORD", WORD)]})))


@pytest.mark.parametrize(("name", "value"), CLEAN_NAMED)
def test_clean_environments_pass(name: str, value: str) -> None:
    manifest = deployment(pod_spec(containers=[env(name, value)]))
    assert all(clean(f"KEY-{n:02}", manifest) for n in range(1, 10))


def test_a_reference_to_a_secret_passes() -> None:
    reference = {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}
    assert clean("KEY-01", pod(pod_spec(containers=[container(env=[reference])])))


def test_an_unknown_value_is_left_to_the_update_and_hides_nothing() -> None:
    spec = pod_spec(containers=[container(env=[{"name": "A", "value": UNKNOWN}, {"name": "PASSWORD", "value": WORD}])])
    outcome = judge("KEY-01", pod(spec))
    assert outcome.messages
    assert outcome.unjudged


def test_kserve_and_other_resources_keep_their_environment_by_shape() -> None:
    manifest = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "m"},
        "spec": {"predictor": {"model": {"env": [{"name": "HF_TOKEN", "value": "hf" + "_" + some(34)}]}}},
    }
    assert fires("KEY-01", manifest)


@pytest.mark.parametrize(("name", "value"), [*DOCUMENTS, *PAIRS])
def test_a_key_in_a_config_map_is_found(name: str, value: str) -> None:
    assert fires("KEY-02", config_map(name, value))
    assert fires("KEY-02", config_map(name, b64(value), "binaryData"))
    assert fires("KEY-02", listed(config_map("a", "b"), config_map(name, value)))


@pytest.mark.parametrize(("name", "value"), [*DOCUMENTS, *((n, v) for n, v in PAIRS if n == "NOTE")])
def test_a_key_encoded_in_a_config_map_is_found(name: str, value: str) -> None:
    assert fires("KEY-02", config_map(name, b64(value)))
    assert fires("KEY-02", config_map(name, b64(b64(value))))


@pytest.mark.parametrize(("name", "value"), [*CLEAN_NAMED, *CLEAN_DOCUMENTS])
def test_a_clean_config_map_passes(name: str, value: str) -> None:
    assert all(clean(f"KEY-{n:02}", config_map(name, value)) for n in range(1, 10))


def test_unknown_data_is_left_to_the_update() -> None:
    assert judge("KEY-02", {**config_map("a", "b"), "data": UNKNOWN}).unjudged
    assert judge("KEY-02", config_map("a", UNKNOWN)).unjudged


@pytest.mark.parametrize(
    "words",
    [
        {"args": [f"--password={WORD}"]},
        {"args": ["serve", "--api-key", some(32)]},
        {"args": ["--set", f"db.password={WORD}"]},
        {"command": ["sh", "-c", f"export DB_PASSWORD={WORD} && exec app"]},
        {"command": ["git", "clone", f"https://oauth2:{some(20)}@git.example.com/a.git"]},
        {"command": ["redis-cli", "-a", WORD]},
        {"command": ["mysql", "-uroot", f"-p{WORD}"]},
        {"command": ["curl", "-u", f"admin:{WORD}", "https://example.com"]},
        {"args": ["-H", f"Authorization: Bearer {some(40)}"]},
        {"command": ["redis-server"], "args": ["--requirepass", WORD]},
        {"command": [f"DB_PASSWORD={WORD}"]},
        *({"args": [value]} for value in [*SHAPED, *URLS]),
    ],
)
def test_a_key_on_a_command_line_is_found(words: dict[str, Any]) -> None:
    assert fires("KEY-03", pod(pod_spec(containers=[container(**words)])))
    assert fires("KEY-03", deployment(pod_spec(initContainers=[container(**words)])))


@pytest.mark.parametrize(
    "words",
    [
        {"args": ["--password=$(DB_PASSWORD)", "--token-file", "/run/x", "--max-tokens", "4096"]},
        {"args": ["--api-key", "$(API_KEY)", "--tokenizer", "org/model"]},
        {"command": ["sh", "-c", 'exec app --password "$(cat /run/x)"']},
        {"args": ["--model", "org/model-7b", "--served-model-name", "chat", "--gpu-memory-utilization=0.9"]},
        {"command": ["redis-server", "--requirepass", "$(REDIS_PASSWORD)"]},
    ],
)
def test_a_clean_command_line_passes(words: dict[str, Any]) -> None:
    assert clean("KEY-03", pod(pod_spec(containers=[container(**words)])))


def test_unknown_words_are_left_to_the_update() -> None:
    assert judge("KEY-03", pod(pod_spec(containers=[container(args=["--a", UNKNOWN])]))).unjudged


@pytest.mark.parametrize(
    "annotations",
    [
        {
            "kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"env":[{"name":"PASSWORD","value":"'
            + WORD
            + '"}]}}'
        },
        {"nginx.org/server-snippets": f'proxy_set_header Authorization "Basic {b64(WORD + ":" + WORD)}";'},
        {"example.com/api-key": some(32)},
        *({"note": value} for value in [*SHAPED, *URLS]),
    ],
)
def test_a_key_in_an_annotation_is_found(annotations: dict[str, str]) -> None:
    assert fires("KEY-04", pod(annotations=annotations))
    template = deployment()
    template["spec"]["template"]["metadata"]["annotations"] = annotations
    assert fires("KEY-04", template)


def test_a_key_in_a_label_is_found() -> None:
    assert fires("KEY-04", pod(labels={"token": some(40)}))


@pytest.mark.parametrize(
    "annotations",
    [{"checksum/secret": some(64, "0123456789abcdef")}, {"secret-name": "app"}, {"prometheus.io/scrape": "true"}],
)
def test_clean_annotations_pass(annotations: dict[str, str]) -> None:
    assert clean("KEY-04", pod(annotations=annotations))


def test_an_unknown_annotation_is_left_to_the_update() -> None:
    assert judge("KEY-04", pod(annotations={"a": UNKNOWN})).unjudged


def secret(field: str = "stringData", **data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "app"}, field: data}


@pytest.mark.parametrize(
    "manifest",
    [
        secret(password=WORD),
        secret("data", password=b64(WORD)),
        secret("data", a=""),
        secret("data", password=b64(WORD), empty=""),
        listed(secret(password=WORD)),
        secret(password="word"),
        secret(password=UNKNOWN),
    ],
)
def test_a_secret_in_the_program_is_refused(manifest: dict[str, Any]) -> None:
    empty = manifest.get("data") == {"a": ""}
    assert fires("KEY-05", manifest) is not empty


@pytest.mark.parametrize(
    "manifest",
    [
        secret(),
        secret("data", password=""),
        secret(password="<path:secret/data/app#password>"),
        secret(password=f"ENC[AES256_GCM,data:{some(20)},iv:{some(20)},tag:{some(20)},type:str]"),
        {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": {"name": "db"},
            "spec": {
                "secretStoreRef": {"name": "aws"},
                "target": {"name": "db", "template": {"data": {"password": "{{ .password }}"}}},
                "data": [{"secretKey": "password", "remoteRef": {"key": "prod/db", "property": "password"}}],
            },
        },
        {
            "apiVersion": "bitnami.com/v1alpha1",
            "kind": "SealedSecret",
            "metadata": {"name": "db"},
            "spec": {"encryptedData": {"password": "Ag" + some(400)}},
        },
        {
            "apiVersion": "secrets-store.csi.x-k8s.io/v1",
            "kind": "SecretProviderClass",
            "metadata": {"name": "db"},
            "spec": {"parameters": {"objects": "- objectName: db-password\n  objectAlias: password\n"}},
        },
    ],
)
def test_a_delivered_secret_passes(manifest: dict[str, Any]) -> None:
    assert all(clean(f"KEY-{n:02}", manifest) for n in range(1, 10))


def test_an_unknown_secret_is_left_to_the_update() -> None:
    assert judge("KEY-05", {**secret(), "stringData": UNKNOWN}).unjudged


@pytest.mark.parametrize(
    "probe",
    [
        {"readinessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": f"Bearer {some(40)}"}]}}},
        {"livenessProbe": {"exec": {"command": ["redis-cli", "-a", WORD, "ping"]}}},
        {"lifecycle": {"postStart": {"exec": {"command": ["sh", "-c", f"curl -u admin:{WORD} https://example.com"]}}}},
    ],
)
def test_a_key_in_a_probe_or_hook_is_found(probe: dict[str, Any]) -> None:
    assert fires("KEY-06", pod(pod_spec(containers=[container(**probe)])))


@pytest.mark.parametrize(
    "probe",
    [
        {
            "readinessProbe": {
                "httpGet": {"path": "/healthz", "httpHeaders": [{"name": "Accept", "value": "text/plain"}]}
            }
        },
        {"livenessProbe": {"exec": {"command": ["sh", "-c", 'redis-cli -a "$REDIS_PASSWORD" ping']}}},
    ],
)
def test_a_clean_probe_passes(probe: dict[str, Any]) -> None:
    assert clean("KEY-06", pod(pod_spec(containers=[container(**probe)])))


def test_an_unknown_header_is_left_to_the_update() -> None:
    probe = {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": UNKNOWN}]}}
    assert judge("KEY-06", pod(pod_spec(containers=[container(readinessProbe=probe)]))).unjudged


@pytest.mark.parametrize(
    "manifest",
    [
        pod(pod_spec(volumes=[{"name": "oss", "csi": {"driver": "oss", "volumeAttributes": {"akSecret": some(30)}}}])),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "oss"},
            "spec": {"csi": {"volumeAttributes": {"akId": "LT" + "AI" + some(20), "akSecret": some(30)}}},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "juicefs"},
            "parameters": {"metaurl": f"redis://:{WORD}@redis:6379/1"},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "smb"},
            "mountOptions": [f"username=app,password={WORD}"],
        },
    ],
)
def test_a_key_in_a_volume_is_found(manifest: dict[str, Any]) -> None:
    assert fires("KEY-07", manifest)


def test_a_volume_that_names_a_secret_passes() -> None:
    parameters = {
        "csi.storage.k8s.io/node-stage-secret-name": "juicefs",
        "csi.storage.k8s.io/node-stage-secret-namespace": "x",
    }
    manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "a"},
        "parameters": parameters,
    }
    assert clean("KEY-07", manifest)


def test_a_key_in_an_image_reference_is_found() -> None:
    assert fires("KEY-08", pod(pod_spec(containers=[container(image=f"https://user:{WORD}@registry.example.com/app")])))
    assert fires("KEY-08", pod(pod_spec(containers=[container(image=f"user:{WORD}@registry.example.com/app:1")])))
    assert clean("KEY-08", pod())
    assert clean(
        "KEY-08", pod(pod_spec(containers=[container(image="registry.example.com:5000/app:1@sha256:" + "a" * 64)]))
    )


def release(**values: Any) -> dict[str, Any]:
    return {"chart": "redis", "values": values}


HELM = "kubernetes:helm.sh/v3:Release"


@pytest.mark.parametrize(
    "values",
    [
        {"auth": {"password": WORD}},
        {"global": {"redis": {"password": WORD}}},
        {"config": f"requirepass {WORD}\n"},
        {"users": [{"name": "app", "password": WORD}]},
        *({"note": value} for value in [*SHAPED, *URLS]),
    ],
)
def test_a_key_in_chart_values_or_a_custom_resource_is_found(values: dict[str, Any]) -> None:
    assert fires("KEY-09", release(**values), token=HELM)
    assert fires("KEY-09", {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": values})


@pytest.mark.parametrize(
    "values",
    [
        {"auth": {"existingSecret": "redis-auth", "existingSecretPasswordKey": "redis-password"}},
        {"auth": {"password": ""}, "tokens": 3, "maxTokens": 100},
        {"image": {"pullSecrets": ["regcred"]}, "tls": {"secretName": "app-tls"}},
    ],
)
def test_clean_chart_values_pass(values: dict[str, Any]) -> None:
    assert clean("KEY-09", release(**values), token=HELM)


def test_a_key_in_the_name_of_an_entry_is_found() -> None:
    token = "gh" + "p_" + some(36)
    assert fires("KEY-02", config_map(token, "x"))
    assert fires("KEY-04", pod(labels={token: "x"}))
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {token: 1}}
    assert fires("KEY-09", thing)


def test_only_sealed_secrets_may_carry_sealed_data() -> None:
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
    assert fires("KEY-09", {**thing, "spec": {"encryptedData": {"password": WORD}}})
    assert fires("KEY-09", {**thing, "sops": {"password": WORD}})


def test_a_public_certificate_is_no_secret() -> None:
    assert clean("KEY-05", secret("data", **{"ca.crt": b64(CERTIFICATE)}))
    assert fires("KEY-05", secret("data", **{"ca.crt": b64(CERTIFICATE), "tls.key": b64(PEM)}))


def test_a_model_server_of_kserve_is_a_pod() -> None:
    manifest = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "m", "namespace": "team-a"},
        "spec": {
            "predictor": {"tolerations": [{"operator": "Exists"}], "model": {"securityContext": {"privileged": True}}}
        },
    }
    assert fires("PSS-01", manifest)
    assert fires("GPU-01", manifest)
    assert clean("PSS-05", manifest)

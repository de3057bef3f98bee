"""KEY-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.key_manifests import PAIRS, env
from tests.policy.manifests import POD_HOLDERS, container, deployment, pod, pod_spec
from tests.policy.samples import CLEAN_NAMED, WORD, some


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

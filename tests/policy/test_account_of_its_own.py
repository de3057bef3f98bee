"""SA-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec


def without(**more: Any) -> dict[str, Any]:
    spec = pod_spec(**more)
    del spec["serviceAccountName"]
    return spec


@pytest.mark.parametrize("spec", [without(), pod_spec(serviceAccountName="default"), without(serviceAccount="default")])
@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_a_pod_without_an_account_of_its_own_is_refused(hold: Any, spec: dict[str, Any]) -> None:
    assert fires("SA-01", hold(spec))


@pytest.mark.parametrize(
    "spec", [pod_spec(), without(serviceAccount="worker"), pod_spec(serviceAccountName="default-1")]
)
def test_a_named_account_passes(spec: dict[str, Any]) -> None:
    assert clean("SA-01", pod(spec))


def test_an_unknown_account_is_left_to_the_update() -> None:
    assert judge("SA-01", pod(pod_spec(serviceAccountName=UNKNOWN))).unjudged


def test_a_patch_may_leave_the_account_out() -> None:
    assert clean("SA-01", pod(without()), token="kubernetes:core/v1:PodPatch")


def custom(kind: str, api: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "c", "namespace": "team-a"}, "spec": spec}


CONTAINERS = pod_spec()["containers"]
TEMPLATES = [
    ("Task", "tekton.dev/v1", {"steps": CONTAINERS}),
    ("ServingRuntime", "serving.kserve.io/v1alpha1", {"containers": CONTAINERS}),
    ("ClusterServingRuntime", "serving.kserve.io/v1alpha1", {"containers": CONTAINERS}),
    ("SidecarSet", "apps.kruise.io/v1alpha1", {"containers": CONTAINERS}),
]


@pytest.mark.parametrize(("kind", "api", "spec"), TEMPLATES)
def test_a_template_whose_user_names_the_account_passes(kind: str, api: str, spec: dict[str, Any]) -> None:
    assert clean("SA-01", custom(kind, api, **spec))
    assert fires("SA-01", custom(kind, api, serviceAccountName="default", **spec))
    assert fires("SA-01", custom(kind, "example.com/v1", **spec))


def test_runs_of_tekton_name_their_account() -> None:
    steps = {"steps": CONTAINERS}
    assert fires("SA-01", custom("TaskRun", "tekton.dev/v1", taskSpec=steps))
    assert clean("SA-01", custom("TaskRun", "tekton.dev/v1", taskSpec=steps, serviceAccountName="builder"))
    pipeline = {"tasks": [{"name": "t", "taskSpec": steps}]}
    for name, verdict in (("builder", clean), ("default", fires)):
        template = {"serviceAccountName": name}
        run = custom("PipelineRun", "tekton.dev/v1", pipelineSpec=pipeline, taskRunTemplate=template)
        assert verdict("SA-01", run)

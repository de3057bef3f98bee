"""POD-01 and POD-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, cron_job, deployment, pod, pod_spec


def with_root(value: Any) -> dict[str, Any]:
    return pod_spec(containers=[container(securityContext={"readOnlyRootFilesystem": value})])


@pytest.mark.parametrize("value", [False, None])
@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_a_writable_image_is_refused(hold: Any, value: Any) -> None:
    assert fires("POD-01", hold(with_root(value)))
    assert fires("POD-01", hold(pod_spec(initContainers=with_root(value)["containers"])))


def test_a_read_only_image_passes() -> None:
    assert clean("POD-01", pod())
    assert clean("POD-01", pod(pod_spec(os={"name": "windows"}, containers=[{"name": "a", "image": "a"}])))
    assert judge("POD-01", pod(with_root(UNKNOWN))).unjudged


@pytest.mark.parametrize("make", [pod, deployment, cron_job])
def test_the_default_namespace_is_refused(make: Any) -> None:
    manifest = make()
    assert clean("POD-02", manifest)
    manifest["metadata"]["namespace"] = "default"
    assert fires("POD-02", manifest)
    del manifest["metadata"]["namespace"]
    assert fires("POD-02", manifest)
    manifest["metadata"]["namespace"] = UNKNOWN
    assert judge("POD-02", manifest).unjudged

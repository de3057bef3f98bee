"""POD-01."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, container, pod, pod_spec


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

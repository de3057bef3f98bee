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

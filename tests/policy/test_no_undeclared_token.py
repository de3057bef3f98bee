"""SA-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS, pod, pod_spec


def spec(field: Any = None, **more: Any) -> dict[str, Any]:
    return pod_spec(automountServiceAccountToken=field, **more)


def account(field: Any = None, name: str = "worker", namespace: str = "team-a") -> dict[str, Any]:
    found: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace},
    }
    return found if field is None else {**found, "automountServiceAccountToken": field}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param([pod(spec())], id="the account is not in the program"),
        pytest.param([pod(spec()), account()], id="nobody says anything"),
        pytest.param([pod(spec(True)), account(False)], id="the pod asks against its account"),
        pytest.param([pod(spec()), account(False, namespace="team-b")], id="the account is of another namespace"),
        pytest.param([account(True)], id="the account gives it to all its pods"),
        pytest.param([pod(spec(False)), pod(spec()), account(True)], id="one pod of the account does not refuse"),
        pytest.param([pod(spec(False)), account(True, namespace="team-b")], id="the pod is of another account"),
    ],
)
def test_a_mounted_token_is_refused(program: list[dict[str, Any]]) -> None:
    assert fires("SA-02", *program)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param([pod(spec(False))], id="the pod refuses it"),
        pytest.param([pod(spec()), account(False)], id="the account refuses it"),
        pytest.param([pod(spec(False)), account()], id="the pod refuses what its account leaves open"),
        pytest.param([pod(spec(False)), account(True)], id="every pod refuses what its account offers"),
    ],
)
def test_a_refused_token_passes(program: list[dict[str, Any]]) -> None:
    assert clean("SA-02", *program)


@pytest.mark.parametrize("hold", POD_HOLDERS)
def test_every_kind_that_embeds_pods_is_judged(hold: Any) -> None:
    assert fires("SA-02", hold(spec(True)))


def test_a_declared_account_may_have_its_token() -> None:
    assert clean("SA-02", pod(spec(True)), account(True), config={"tokenAccounts": ["team-a/worker"]})
    assert fires("SA-02", pod(spec(True)), config={"tokenAccounts": ["team-b/worker"]})


def test_an_account_of_another_program_can_be_vouched_for() -> None:
    assert clean("SA-02", pod(spec()), config={"accountsWithoutToken": ["team-a/*"]})


def test_an_unknown_is_left_to_the_update() -> None:
    assert judge("SA-02", pod(spec(UNKNOWN))).unjudged
    assert judge("SA-02", pod(spec()), account(UNKNOWN)).unjudged


def test_a_patch_that_does_not_touch_the_field_passes() -> None:
    patch = pod(spec())
    assert fires("SA-02", patch)
    amended = {"apiVersion": "monitoring.coreos.com/v1", "kind": "Prometheus", "metadata": {"name": "p"}}
    assert clean("SA-02", {**amended, "spec": {"containers": [{"name": "prometheus", "args": ["--x"]}]}})


def test_a_patch_that_asks_for_a_token_is_refused() -> None:
    assert fires("SA-02", pod(spec(True)) | {"kind": "PodPatch"}, token="kubernetes:core/v1:PodPatch")
    assert clean("SA-02", pod(spec()) | {"kind": "PodPatch"}, token="kubernetes:core/v1:PodPatch")
    elastic = {"apiVersion": "elasticsearch.k8s.elastic.co/v1", "kind": "Elasticsearch", "metadata": {"name": "e"}}
    template = {"spec": {"automountServiceAccountToken": True, "containers": [{"name": "elasticsearch"}]}}
    assert fires("SA-02", {**elastic, "spec": {"nodeSets": [{"podTemplate": template}]}})


def patched(field: Any) -> dict[str, Any]:
    return {**account(field), "kind": "ServiceAccountPatch"}


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_accounts_of_one_name_the_weaker_counts(order: int) -> None:
    assert fires("SA-02", pod(spec()), *[account(False), account()][::order])
    assert judge("SA-02", pod(spec()), *[account(False), account(UNKNOWN)][::order]).unjudged


def test_a_patch_of_an_account_counts_by_what_it_sets() -> None:
    assert clean("SA-02", pod(spec()), account(False), patched(None))
    assert clean("SA-02", pod(spec()), patched(False))
    assert fires("SA-02", pod(spec()), account(False), patched(True))
    assert fires("SA-02", pod(spec()), patched(None))


def test_runs_of_tekton_say_it_beside_their_steps() -> None:
    run = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "metadata": {"name": "r", "namespace": "team-a"}}
    body = {"serviceAccountName": "worker", "taskSpec": {"steps": pod_spec()["containers"]}}
    for field, verdict in ((False, clean), (True, fires), (None, fires)):
        assert verdict("SA-02", {**run, "spec": {**body, "podTemplate": {"automountServiceAccountToken": field}}})
    nested = {"podTemplate": {"automountServiceAccountToken": False}}
    assert clean("SA-02", {**run, "spec": {**body, "taskRunTemplate": nested}})


def test_a_template_whose_user_names_the_account_passes() -> None:
    task = {"apiVersion": "tekton.dev/v1", "kind": "Task", "metadata": {"name": "t"}}
    assert clean("SA-02", {**task, "spec": {"steps": pod_spec()["containers"]}})

"""Batch jobs: they give way, they are counted right, and an update never waits for them."""

from __future__ import annotations

import dataclasses
from typing import Any

from components.inference import BatchJob, BatchJobArgs
from lantau.stack import Stack
from tests.unit.components.inference_stacks import platform
from tests.unit.components.recording import Recorded, Resource, record


def job_args(**changes: Any) -> BatchJobArgs:
    checked = platform()
    data = checked.stack.model_dump(mode="json")
    data["batch"]["embed-archive"].update(changes)
    changed = dataclasses.replace(checked, stack=Stack.model_validate(data))
    return BatchJobArgs(changed, "embed-archive")


def batch(**changes: Any) -> Recorded:
    args = job_args(**changes)
    return record(lambda: BatchJob("embed-archive", args), preview=True)


def job(recorded: Recorded) -> Resource:
    (found,) = recorded.of_type("kubernetes:batch/v1:Job")
    return found


def pod(recorded: Recorded) -> dict[str, Any]:
    spec: dict[str, Any] = job(recorded).inputs["spec"]["template"]["spec"]
    return spec


def test_being_preempted_is_no_failure() -> None:
    spec = job(batch()).inputs["spec"]
    assert spec["podFailurePolicy"]["rules"] == [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    ]
    assert pod(batch())["restartPolicy"] == "Never", "the API server demands it of such a policy"
    assert spec["backoffLimit"] == 6


def test_parts_that_gave_way_do_not_wait_for_each_other() -> None:
    spec = job(batch(retries=3)).inputs["spec"]
    assert spec["backoffLimitPerIndex"] == spec["backoffLimit"] == 3, "the delay would double with every preempted pod"


def test_a_job_gives_way_at_once() -> None:
    assert pod(batch())["priorityClassName"] == "lantau-batch"
    assert pod(batch())["terminationGracePeriodSeconds"] <= 15, "an online pod waits for it"


def test_an_update_does_not_wait_for_the_end_of_a_job() -> None:
    assert job(batch()).inputs["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_a_finished_job_stays_so_that_it_does_not_run_twice() -> None:
    assert "ttlSecondsAfterFinished" not in job(batch()).inputs["spec"]


def test_another_job_is_another_name() -> None:
    names = {job(batch(**each)).kubernetes_name for each in ({}, {"parallelism": 5}, {"command": ["other"]})}
    assert len(names) == 3
    assert all(name.startswith("embed-archive-") and len(name) == len("embed-archive-") + 8 for name in names)
    assert job(batch()).kubernetes_name == job(batch()).kubernetes_name


def test_a_changed_job_is_still_the_same_resource() -> None:
    assert job(batch()).urn == job(batch(parallelism=5)).urn, "Pulumi then starts the new one and deletes the old"


def test_jobs_stay_off_the_online_pool() -> None:
    (term,) = pod(batch())["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"][0]["values"] == ["offline-4090"]
    assert [each["value"] for each in pod(batch())["tolerations"]] == ["offline"]


def test_each_pod_knows_its_part() -> None:
    spec = job(batch()).inputs["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 16, 4)


def test_as_many_pods_as_a_machine_has_cards_fit_on_it() -> None:
    machine = job_args().pool.hardware
    assert job_args().cpus * machine.cards < machine.cores, "the system's own pods need cores too"
    assert job_args(gpus=2).cpus == 2 * job_args().cpus


def test_the_pods_are_admitted_under_restricted_and_have_no_token() -> None:
    made = batch()
    (container,) = pod(made)["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert pod(made)["securityContext"]["runAsNonRoot"] is True
    (account,) = made.of_type("kubernetes:core/v1:ServiceAccount")
    assert pod(made)["serviceAccountName"] == account.kubernetes_name == "embed-archive"
    assert pod(made)["automountServiceAccountToken"] is False


def test_a_job_opens_no_network() -> None:
    assert not batch().of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")


def test_outputs_name_the_job() -> None:
    recorded = batch()
    component = recorded.one("lantau:inference:BatchJob")
    assert recorded.outputs_registered[component.urn] == {
        "job": job(recorded).kubernetes_name,
        "namespace": "lantau-batch",
    }

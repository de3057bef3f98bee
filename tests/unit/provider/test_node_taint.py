"""`NodeTaint`: one taint comes and goes, and whatever else is on the node stays, whoever writes in between."""

from typing import Any

import pytest

from provider.config import ProviderConfig
from provider.errors import ProviderError
from provider.kube.kubeconfig import KubeconfigError
from provider.kube.resource import NodeTaint
from provider.kube.taints import OWNERS_ANNOTATION
from provider.resource import Change, Say
from provider.values import UNKNOWN, Plain
from tests.unit.provider.fake_cluster import CONTEXT, FakeCluster

URN = "urn:pulumi:dev::lantau::lantau:index:NodeTaint::gpu-1"
FOREIGN = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
MAINTENANCE = {"key": "site/maintenance", "effect": "NoExecute", "timeAdded": "2026-12-01T00:00:00Z"}
OURS = {"key": "lantau.internal/role", "value": "online", "effect": "NoSchedule"}


def inputs(kind: NodeTaint, **changes: Any) -> Plain:
    checked, failures = kind.check(URN, {}, {"node": "gpu-1", **OURS, **changes})
    assert not failures, [(failure.property, failure.reason) for failure in failures]
    return checked


def test_a_taint_is_added_after_the_others(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    state = taints.create(inputs(taints), say)

    assert cluster.taints("gpu-1") == [FOREIGN, OURS]
    assert state.id == "gpu-1/lantau.internal/role:NoSchedule"
    assert len(state.outputs.pop("holder")) == 16
    assert state.outputs == {"node": "gpu-1", **OURS, "clusterUid": cluster.uid, "found": False}


def test_foreign_taints_stay_before_during_and_after(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    """One was there, one comes while ours is being added, one while ours is being removed."""
    late = {"key": "late", "value": "", "effect": "PreferNoSchedule"}
    cluster.before_patch = lambda: cluster.write("gpu-1", [MAINTENANCE, *cluster.taints("gpu-1")])
    state = taints.create(inputs(taints), say)
    assert cluster.taints("gpu-1") == [MAINTENANCE, FOREIGN, OURS]

    cluster.before_patch = lambda: cluster.write("gpu-1", [*cluster.taints("gpu-1"), late])
    taints.delete(state.id, state.outputs, say)

    assert cluster.taints("gpu-1") == [MAINTENANCE, FOREIGN, late]
    assert OWNERS_ANNOTATION not in cluster.nodes["gpu-1"]["metadata"]["annotations"]


def test_a_writer_that_removes_its_own_taint_meanwhile_is_not_undone(
    cluster: FakeCluster, taints: NodeTaint, say: Say
) -> None:
    cluster.before_patch = lambda: cluster.write("gpu-1", [])

    taints.create(inputs(taints), say)

    assert cluster.taints("gpu-1") == [OURS]


def test_a_node_that_others_never_stop_writing_is_given_up_with_a_word(
    cluster: FakeCluster, taints: NodeTaint, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provider.kube.nodes.ATTEMPTS", 3)
    monkeypatch.setattr("provider.kube.nodes.LONGEST_PAUSE", 0.01)

    def again() -> None:
        cluster.write("gpu-1", cluster.taints("gpu-1"))
        cluster.before_patch = again

    cluster.before_patch = again
    with pytest.raises(ProviderError, match="node gpu-1 was changed by others 3 times in a row"):
        taints.create(inputs(taints), say)


def test_a_create_repeated_after_a_crash_is_still_ours(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    first = taints.create(inputs(taints), say)

    second = taints.create(inputs(taints), say)
    assert {**second.outputs, "holder": ""} == {**first.outputs, "holder": ""}
    taints.delete(second.id, second.outputs, say)
    assert cluster.taints("gpu-1") == [FOREIGN]


def test_a_resource_that_was_renamed_does_not_remove_what_its_successor_adopted(
    cluster: FakeCluster, taints: NodeTaint, say: Any
) -> None:
    """The engine creates the new one first, and deletes the old one last."""
    old = taints.create(inputs(taints), say)
    new = taints.create(inputs(taints), say)

    taints.delete(old.id, old.outputs, say)

    assert cluster.taints("gpu-1") == [FOREIGN, OURS]
    assert "is held by another resource now: left to it" in say.lines[-1]
    taints.delete(new.id, new.outputs, say)
    assert cluster.taints("gpu-1") == [FOREIGN]


def test_a_taint_whose_annotation_was_lost_is_still_removed(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    state = taints.create(inputs(taints), say)
    cluster.nodes["gpu-1"]["metadata"]["annotations"].clear()

    taints.delete(state.id, state.outputs, say)

    assert cluster.taints("gpu-1") == [FOREIGN]


def test_an_equal_taint_that_was_there_before_is_left_there_on_delete(
    cluster: FakeCluster, taints: NodeTaint, say: Say
) -> None:
    cluster.write("gpu-1", [OURS, FOREIGN])

    state = taints.create(inputs(taints), say)
    assert state.outputs["found"] is True
    taints.delete(state.id, state.outputs, say)

    assert cluster.taints("gpu-1") == [OURS, FOREIGN]


def test_another_value_in_the_same_slot_is_not_overwritten(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    cluster.write("gpu-1", [{**OURS, "value": "offline"}])

    with pytest.raises(
        ProviderError, match=r"value offline, which is not ours to change; remove it .kubectl taint node"
    ):
        taints.create(inputs(taints), say)
    assert cluster.taints("gpu-1") == [{**OURS, "value": "offline"}]


def test_a_taint_of_another_stack_is_not_taken_over(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    other = NodeTaint(ProviderConfig(None, CONTEXT, "prod"))
    other.create(inputs(other), say)

    with pytest.raises(ProviderError, match="belongs to stack prod"):
        taints.create(inputs(taints), say)


def test_a_value_changes_in_place(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    state = taints.create(inputs(taints), say)
    cluster.write("gpu-1", [*cluster.taints("gpu-1"), MAINTENANCE])
    news = inputs(taints, value="offline")
    assert taints.diff(state.outputs, news).changes == {"value": Change.UPDATE}

    outputs = taints.update(state.id, state.outputs, news, say)

    assert cluster.taints("gpu-1") == [FOREIGN, {**OURS, "value": "offline"}, MAINTENANCE]
    assert not taints.diff(outputs, news).changes


@pytest.mark.parametrize("change", [{"node": "gpu-2"}, {"key": "other"}, {"effect": "NoExecute"}])
def test_node_key_and_effect_make_another_taint(taints: NodeTaint, change: Plain) -> None:
    state = inputs(taints)

    assert taints.diff(state, inputs(taints, **change)).changes == dict.fromkeys(change, Change.REPLACE)


def test_a_missing_node_is_named(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    with pytest.raises(ProviderError, match=f"there is no node gpu-9 in context {CONTEXT}; join it"):
        taints.create(inputs(taints, node="gpu-9"), say)


def test_deleting_from_a_node_that_is_gone_is_success(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    state = taints.create(inputs(taints), say)
    del cluster.nodes["gpu-1"]

    taints.delete(state.id, state.outputs, say)


def test_a_value_that_somebody_changed_is_left_on_delete(cluster: FakeCluster, taints: NodeTaint, say: Any) -> None:
    state = taints.create(inputs(taints), say)
    cluster.write("gpu-1", [{**OURS, "value": "debug"}])

    taints.delete(state.id, state.outputs, say)

    assert cluster.taints("gpu-1") == [{**OURS, "value": "debug"}]
    assert "somebody gave taint lantau.internal/role:NoSchedule another value" in say.lines[-1]


def test_a_refresh_finds_a_missing_taint_a_changed_value_and_a_missing_node(
    cluster: FakeCluster, taints: NodeTaint, say: Say
) -> None:
    state = taints.create(inputs(taints), say)
    assert taints.read(state.id, state.outputs, state.inputs, say) == state

    cluster.write("gpu-1", [{**OURS, "value": "debug"}])
    seen = taints.read(state.id, state.outputs, state.inputs, say)
    assert seen is not None
    assert taints.diff(seen.outputs, state.inputs).changes == {"value": Change.UPDATE}

    cluster.write("gpu-1", [FOREIGN])
    assert taints.read(state.id, state.outputs, state.inputs, say) is None
    del cluster.nodes["gpu-1"]
    assert taints.read(state.id, state.outputs, state.inputs, say) is None


def test_a_taint_is_imported_by_its_id(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    seen = taints.read("gpu-1/nvidia.com/gpu:NoSchedule", {}, {}, say)

    assert seen is not None
    assert seen.inputs == {"node": "gpu-1", **FOREIGN}
    assert seen.outputs["found"] is True
    with pytest.raises(ProviderError, match="<node>/<key>:<effect>"):
        taints.read("gpu-1", {}, {}, say)


def test_another_cluster_under_the_same_context_is_not_touched(
    cluster: FakeCluster, taints: NodeTaint, say: Any
) -> None:
    """A context that points elsewhere must not lose its taints to a destroy."""
    state = taints.create(inputs(taints), say)
    cluster.uid = "another"
    elsewhere = NodeTaint(ProviderConfig(None, CONTEXT, "dev"))

    with pytest.raises(ProviderError, match="another cluster than context hk-test is now"):
        elsewhere.delete(state.id, state.outputs, say)
    with pytest.raises(ProviderError, match="another cluster"):
        elsewhere.update(state.id, state.outputs, inputs(taints, value="x"), say)
    assert elsewhere.read(state.id, state.outputs, state.inputs, say) is None
    assert cluster.taints("gpu-1") == [FOREIGN, OURS]


def test_a_damaged_annotation_makes_nothing_ours(cluster: FakeCluster, taints: NodeTaint, say: Say) -> None:
    cluster.nodes["gpu-1"]["metadata"]["annotations"][OWNERS_ANNOTATION] = "{"
    cluster.write("gpu-1", [{**OURS, "value": "offline"}])

    with pytest.raises(ProviderError, match="not ours to change"):
        taints.create(inputs(taints), say)


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"node": "GPU-1"}, "node", "in lower case"),
        ({"key": "a b"}, "key", "<DNS name>/<word>"),
        ({"key": "Upper.Case/x"}, "key", "<DNS name>/<word>"),
        ({"value": "-x"}, "value", "begun and ended by"),
        ({"value": "x" * 64}, "value", "at most 63"),
        ({"effect": "NoScheduel"}, "effect", "did you mean NoSchedule?"),
        ({"efect": "x"}, "efect", "did you mean effect?"),
    ],
)
def test_a_wrong_input_is_named_with_what_would_be_right(
    taints: NodeTaint, changes: Plain, path: str, words: str
) -> None:
    _, failures = taints.check(URN, {}, {"node": "gpu-1", **OURS, **changes})

    assert [failure.property for failure in failures] == [path]
    assert words in failures[0].reason


def test_two_resources_over_one_taint_are_refused(taints: NodeTaint) -> None:
    inputs(taints)

    _, failures = taints.check(URN.replace("::gpu-1", "::other"), {}, {"node": "gpu-1", **OURS, "value": "x"})

    assert failures[0].reason == "resource gpu-1 declares the same taint of node gpu-1"


def test_no_context_is_ever_assumed() -> None:
    _, failures = NodeTaint(ProviderConfig()).check(URN, {}, {"node": "gpu-1", **OURS})

    assert "the provider has no context" in failures[0].reason


def test_a_preview_asks_nobody(cluster: FakeCluster, taints: NodeTaint) -> None:
    news = inputs(taints)

    assert taints.preview_create(news)["clusterUid"] is UNKNOWN
    assert taints.preview_update(news, {**news, "value": "x"})["value"] == "x"
    assert cluster.requests == []


def test_a_lost_context_is_told_with_those_that_exist(cluster: FakeCluster, say: Say) -> None:
    kind = NodeTaint(ProviderConfig(None, "hk-tset", "dev"))

    with pytest.raises(KubeconfigError, match=r"no context hk-tset: did you mean hk-test\? it has hk-test"):
        kind.create(inputs(kind), say)

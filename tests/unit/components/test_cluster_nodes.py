"""Labels and taints of the nodes of a stack."""

from __future__ import annotations

from components.cluster import NodePools, NodePoolsArgs
from lantau.labels import POOL_LABEL, ROLE_LABEL
from lantau.stack import Pool, Role
from tests.unit.components.recording import Recorded, Resource, record

POOLS = {
    "business": Pool(role=Role.BUSINESS, machine="epyc-4585px-128g", nodes=("biz-1",)),
    "data": Pool(role=Role.DATA, machine="epyc-4585px-256g", nodes=("data-1",)),
    "online-a100": Pool(role=Role.ONLINE, machine="a100-80g-x8", nodes=("gpu-a100-1", "gpu-a100-2")),
    "offline-4090": Pool(role=Role.OFFLINE, machine="rtx4090-x8", nodes=("gpu-4090-1",), shared_with_online=True),
}
NODE_PATCH = "kubernetes:core/v1:NodePatch"
NODE_TAINT = "lantau:index:NodeTaint"


def recorded(pools: dict[str, Pool] | None = None) -> Recorded:
    return record(lambda: NodePools("nodes", NodePoolsArgs(POOLS if pools is None else pools)))


def taint_of(made: Recorded, node: str) -> Resource:
    return made.one(NODE_TAINT, f"nodes-{node}-taint")


def test_every_node_is_labelled_with_its_pool_and_role() -> None:
    made = recorded()
    labels = {each.kubernetes_name: each.inputs["metadata"]["labels"] for each in made.of_type(NODE_PATCH)}
    assert labels == {
        node: {POOL_LABEL: name, ROLE_LABEL: pool.role.value} for name, pool in POOLS.items() for node in pool.nodes
    }


def test_a_label_patch_claims_nothing_but_labels_and_never_by_force() -> None:
    for patch in recorded().of_type(NODE_PATCH):
        assert set(patch.inputs) == {"apiVersion", "kind", "metadata"}, (
            "spec.taints is one list: a patch would own it all"
        )
        assert patch.inputs["metadata"]["annotations"] == {"pulumi.com/patchFieldManager": "lantau-node-pools"}


def test_labels_are_released_when_the_stack_goes() -> None:
    assert not any(each.retain_on_delete for each in recorded().resources)


def test_nodes_of_one_kind_of_work_are_closed_to_others() -> None:
    made = recorded()
    taints = {each.inputs["node"]: each.inputs["value"] for each in made.of_type(NODE_TAINT)}
    assert taints == {"data-1": "data", "gpu-a100-1": "online", "gpu-a100-2": "online", "gpu-4090-1": "offline"}
    assert {(each.inputs["key"], each.inputs["effect"]) for each in made.of_type(NODE_TAINT)} == {
        ("lantau.internal/role", "NoSchedule")
    }


def test_a_node_is_closed_before_its_label_draws_pods() -> None:
    made = recorded()
    for patch in made.of_type(NODE_PATCH):
        if patch.kubernetes_name != "biz-1":
            assert patch.depends_on == {taint_of(made, patch.kubernetes_name).urn}


def test_a_node_that_moves_to_another_pool_keeps_its_resources() -> None:
    moved = POOLS | {
        "online-a100": POOLS["online-a100"].model_copy(update={"nodes": ("gpu-a100-1",)}),
        "offline-a100": POOLS["offline-4090"].model_copy(update={"machine": "a100-80g-x8", "nodes": ("gpu-a100-2",)}),
    }
    before, after = recorded(), recorded(moved)
    assert {each.urn for each in before.resources} == {each.urn for each in after.resources}
    assert taint_of(after, "gpu-a100-2").inputs["value"] == "offline"


def test_the_bundle_says_which_nodes_are_tainted() -> None:
    nodes = recorded().result.nodes
    assert set(nodes) == {node for pool in POOLS.values() for node in pool.nodes}
    assert nodes["biz-1"].taint is None
    assert nodes["data-1"].taint is not None

"""Nodes and volumes as objects of the cluster: put there, taken away, counted."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from sandbox.cluster.api import Api
from sandbox.cluster.nodes import FAKE, GPU, SANDBOX_LABEL, SANDBOX_VALUE, NodeSpec
from sandbox.cluster.status import NodeStatus

_OURS: Final = f"labelSelector={SANDBOX_LABEL}%3D{SANDBOX_VALUE}"
_NODES: Final = "/api/v1/nodes"
_VOLUMES: Final = "/api/v1/persistentvolumes"
_FINISHED: Final = ("Succeeded", "Failed")


def put_nodes(api: Api, nodes: Sequence[NodeSpec]) -> None:
    """Make the cluster's fake nodes and their volumes these: others of ours are deleted, with what ran on them."""
    wanted = {node.name for node in nodes}
    volumes = [body for node in nodes for body in node.volume_bodies()]
    names = {str(body["metadata"]["name"]) for body in volumes}
    for item in api.items(_NODES):
        metadata = item["metadata"]
        if FAKE in (metadata.get("annotations") or {}) and metadata["name"] not in wanted:
            api.delete(f"{_NODES}/{metadata['name']}")
    existing = {str(item["metadata"]["name"]) for item in api.items(f"{_VOLUMES}?{_OURS}")}
    for name in existing - names:
        api.delete(f"{_VOLUMES}/{name}")
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda numbered: _put_node(api, *numbered), enumerate(nodes, start=1)))
        # The source of a volume cannot be changed, so those that exist are left as they are.
        list(pool.map(api.apply, [body for body in volumes if body["metadata"]["name"] not in existing]))


def free_released_volumes(api: Api) -> list[str]:
    """Forget the deleted claims of our volumes, so that they can be bound again; returns the names of the volumes.

    Only volumes whose claim is gone (phase Released) are touched. A real cluster would keep the data for a person to
    decide; here there is none.
    """
    freed = []
    for item in api.items(f"{_VOLUMES}?{_OURS}"):
        if (item.get("status") or {}).get("phase") == "Released":
            name = str(item["metadata"]["name"])
            api.merge(f"{_VOLUMES}/{name}", {"spec": {"claimRef": None}})
            freed.append(name)
    return freed


def node_statuses(api: Api) -> list[NodeStatus]:
    """Every node of the cluster, fake or not, with the number of pods that run on it."""
    pods: dict[str, int] = {}
    for item in api.items("/api/v1/pods"):
        node = item["spec"].get("nodeName")
        if node and (item.get("status") or {}).get("phase") not in _FINISHED:
            pods[node] = pods.get(node, 0) + 1
    return [_node_status(item, pods) for item in api.items(_NODES)]


def _put_node(api: Api, number: int, node: NodeSpec) -> None:
    body = node.body(f"10.0.{number >> 8}.{number & 255}")
    identity = {key: value for key, value in body.items() if key != "status"}
    api.apply(identity)
    metadata = {"name": node.name}
    api.apply({**body, "metadata": metadata}, subresource="status")


def _node_status(item: dict[str, Any], pods: dict[str, int]) -> NodeStatus:
    metadata, status = item["metadata"], item.get("status") or {}
    labels = metadata.get("labels") or {}
    return NodeStatus(
        name=metadata["name"],
        ready=any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ()),
        pods=pods.get(metadata["name"], 0),
        gpus=int((status.get("allocatable") or {}).get(GPU, 0)),
        product=labels.get("nvidia.com/gpu.product", ""),
    )

"""Changes the taints of a node under its resourceVersion, so that no concurrent writer's change is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from provider.errors import ProviderError
from provider.kube.client import Cluster, KubeError, quoted
from provider.kube.taints import OWNERS_ANNOTATION, RawTaint, owners, owners_text

ATTEMPTS: Final = 12
LONGEST_PAUSE: Final = 2.0
"""Seconds between two attempts, at most; the pause is random, so that two writers fall out of step."""


@dataclass(frozen=True)
class NodeTaints:
    """The part of a node that taints are decided on."""

    taints: Sequence[RawTaint]
    owners: Mapping[str, str]


Change = Callable[[NodeTaints], NodeTaints | None]
"""Gives what the node should have, or None to leave it alone; may raise ProviderError."""


class Nodes:
    """Reads and changes nodes of one cluster. One node is changed by one thread at a time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._locks: dict[str, threading.Lock] = {}

    def uid(self) -> str:
        """UID of the cluster."""
        return self._cluster.uid()

    def read(self, name: str) -> NodeTaints | None:
        """Taints of a node; None when there is no such node. Raises KubeError."""
        node = self._get(name)
        return None if node is None else _part(node)

    def change(self, name: str, change: Change) -> bool:
        """Apply a change; False when there is no such node. Raises ProviderError."""
        # Loaded here: most runs change no taint.
        from tenacity import RetryError, Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

        retrying = Retrying(
            retry=retry_if_exception(lambda error: isinstance(error, KubeError) and error.code == "conflict"),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.05, max=LONGEST_PAUSE),
        )
        with self._locks.setdefault(name, threading.Lock()):
            try:
                return retrying(self._change_once, name, change)
            except RetryError:
                raise ProviderError(
                    f"node {name} was changed by others {ATTEMPTS} times in a row; find out who, and run again"
                ) from None

    def _change_once(self, name: str, change: Change) -> bool:
        node = self._get(name)
        if node is None:
            return False
        before = _part(node)
        after = change(before)
        if after is None:
            return True
        body: dict[str, Any] = {
            "metadata": {
                "resourceVersion": node["metadata"]["resourceVersion"],
                "annotations": {OWNERS_ANNOTATION: owners_text(after.owners)},
            },
            "spec": {"taints": [dict(taint) for taint in after.taints] or None},
        }
        self._cluster.merge_patch(_path(name), body)
        return True

    def _get(self, name: str) -> dict[str, Any] | None:
        try:
            return self._cluster.get(_path(name))
        except KubeError as error:
            if error.code == "not-found":
                return None
            raise


def _path(name: str) -> str:
    return f"/api/v1/nodes/{quoted(name)}"


def _part(node: Mapping[str, Any]) -> NodeTaints:
    return NodeTaints(
        taints=list((node.get("spec") or {}).get("taints") or []),
        owners=owners((node.get("metadata") or {}).get("annotations")),
    )

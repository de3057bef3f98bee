"""The preflight: what stands in the way of an update, asked before anything is registered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pulumi

TOKEN = "lantau:index:preflight"


@dataclass(frozen=True)
class RequiredKind:
    """A kind that an add-on brings, and how to get the add-on."""

    group: str
    kind: str
    version: str
    addon: str
    how: str = ""


@dataclass(frozen=True)
class Problem:
    """One thing that stands in the way; `code` is for machines, `remedy` for people."""

    code: str
    subject: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}" if self.remedy else self.message


@dataclass(frozen=True)
class Taint:
    """A taint as a node has it."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Node:
    """A node as it stands: allocatable cards, labels of NVIDIA's discovery and our own, all taints."""

    name: str
    ready: bool
    unschedulable: bool
    gpus: int
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]


@dataclass(frozen=True)
class Server:
    """What the cluster says of itself."""

    version: str
    uid: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Preflight:
    """Result of a preflight. `server` is None when the cluster could not be asked."""

    problems: tuple[Problem, ...]
    server: Server | None

    @property
    def ok(self) -> bool:
        """Nothing stands in the way."""
        return not self.problems

    def text(self) -> str:
        """All problems as one list."""
        return "\n".join(f"- {problem}" for problem in self.problems)


def preflight(
    provider: pulumi.ProviderResource,
    *,
    context: str | None = None,
    cluster_uid: str | None = None,
    min_server_version: str | None = None,
    required_kinds: Iterable[RequiredKind] = (),
    required_nodes: Iterable[str] = (),
    required_secrets: Iterable[str] = (),
    check_store: bool | None = None,
    timeout_seconds: int = 5,
) -> Preflight:
    """Ask cluster and store; answers during preview as well, and raises only for wrong arguments.

    `context` is the provider's when None. `required_secrets` are names that people must have put into the store; the
    store is tried when there are any, or when `check_store` is true. `timeout_seconds` (1 to 60) is for a connection
    and again for an answer.
    """
    args: dict[str, Any] = {
        "context": context,
        "clusterUid": cluster_uid,
        "minServerVersion": min_server_version,
        "requiredKinds": [asdict(kind) for kind in required_kinds],
        "requiredNodes": list(required_nodes),
        "requiredSecrets": list(required_secrets),
        "checkStore": check_store,
        "timeoutSeconds": timeout_seconds,
    }
    given = {key: value for key, value in args.items() if value is not None}
    answer = pulumi.runtime.invoke(TOKEN, given, pulumi.InvokeOptions(provider=provider)).value or {}
    return Preflight(
        problems=tuple(Problem(**problem) for problem in answer.get("problems") or []),
        server=_server(answer.get("server")),
    )


def _server(answer: Mapping[str, Any] | None) -> Server | None:
    if not answer:
        return None
    nodes = tuple(
        Node(
            name=node["name"],
            ready=bool(node["ready"]),
            unschedulable=bool(node["unschedulable"]),
            gpus=int(node["gpus"]),
            labels=dict(node.get("labels") or {}),
            taints=tuple(Taint(**taint) for taint in node.get("taints") or []),
        )
        for node in answer.get("nodes") or []
    )
    return Server(version=answer.get("version", ""), uid=answer.get("uid", ""), nodes=nodes)

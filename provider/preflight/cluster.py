"""The cluster's side of a preflight: four requests side by side, none repeated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from provider.inputs import nearest
from provider.kube.client import Cluster, KubeError
from provider.kube.kubeconfig import KubeconfigError, load_access
from provider.preflight.problems import Findings
from provider.preflight.request import Request, RequiredKind
from provider.values import Plain

DISCOVERY: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
"""Asks for every group, version and kind in one answer; servers before 1.27 give only the groups."""
GPU: Final = "nvidia.com/gpu"
SHOWN_LABELS: Final = ("nvidia.com/", "lantau.internal/")

Kinds = dict[str, dict[str, set[str]]]
"""Group to version to kinds."""


def look_at_cluster(request: Request, findings: Findings) -> Plain | None:
    """Check the cluster; gives what it says of itself, or None when it cannot be asked."""
    if request.context is None:
        findings.add(
            "context-missing", "context", "no kubeconfig context is named", "name the stack's context; none is assumed"
        )
        return None
    try:
        access = load_access(request.context)
    except KubeconfigError as error:
        findings.add(error.code, error.subject, error.problem, error.remedy)
        return None
    cluster = Cluster(access, timeout=request.timeout)
    paths = {
        "version": ("/version", "application/json"),
        "kinds": ("/apis", DISCOVERY),
        "nodes": ("/api/v1/nodes", "application/json"),
        "namespace": ("/api/v1/namespaces/kube-system", "application/json"),
    }
    with ThreadPoolExecutor(max_workers=len(paths)) as threads:
        running = {name: threads.submit(_ask, cluster, path, accept) for name, (path, accept) in paths.items()}
        answers = {name: future.result() for name, future in running.items()}
    for answer in answers.values():
        if isinstance(answer, KubeError):
            findings.add(answer.code, request.context, answer.problem, answer.remedy)
    good = {name: answer for name, answer in answers.items() if not isinstance(answer, KubeError)}
    if not good:
        return None
    try:
        return _judge(request, findings, cluster, good)
    except (KeyError, TypeError, AttributeError, ValueError):
        findings.add(
            "cluster-unreachable",
            request.context,
            f"{access.server} answers, but not as a Kubernetes API server",
            "check the server of the context, and whether a proxy stands between",
        )
        return None


def _judge(request: Request, findings: Findings, cluster: Cluster, answers: Mapping[str, Plain]) -> Plain:
    """Compare what the cluster answered with what is asked for. An answer of another shape raises."""
    uid = str(answers["namespace"]["metadata"]["uid"]) if "namespace" in answers else ""
    git_version = str(answers["version"]["gitVersion"]) if "version" in answers else ""
    described = [_node(item) for item in answers["nodes"]["items"]] if "nodes" in answers else []
    _judge_identity(request, findings, uid)
    _judge_version(request, findings, git_version)
    if "kinds" in answers:
        _judge_kinds(request.kinds, findings, _discovered(answers["kinds"], cluster, request))
    if "nodes" in answers:
        _judge_nodes(request, findings, [node["name"] for node in described])
    return {"version": git_version, "uid": uid, "nodes": described}


def _ask(cluster: Cluster, path: str, accept: str) -> Plain | KubeError:
    try:
        return cluster.get(path, accept=accept)
    except KubeError as error:
        return error


def _good(answer: Plain | KubeError) -> Plain | None:
    return None if isinstance(answer, KubeError) else answer


def _judge_identity(request: Request, findings: Findings, uid: str) -> None:
    if request.cluster_uid and uid and uid != request.cluster_uid:
        findings.add(
            "cluster-wrong",
            str(request.context),
            f"context {request.context} leads to cluster {uid}, and this stack belongs to {request.cluster_uid}",
            "point the context at the stack's cluster; if it was rebuilt, put the new UID into the stack",
        )


def _judge_version(request: Request, findings: Findings, git_version: str) -> None:
    if request.min_server_version is None or not git_version:
        return
    found, wanted = _release(git_version), _release(request.min_server_version)
    # A server built without its version calls itself v0.0.0; there is nothing to compare then.
    if (0, 0) < found < wanted:
        findings.add(
            "server-too-old",
            str(request.context),
            f"the API server is {git_version}, and {request.min_server_version} is needed",
            f"upgrade the cluster to {request.min_server_version} or later",
        )


def _release(version: str) -> tuple[int, int]:
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _discovered(answer: Plain, cluster: Cluster, request: Request) -> Kinds:
    if answer.get("kind") == "APIGroupDiscoveryList":
        return {
            group.get("metadata", {}).get("name", ""): {
                version["version"]: {
                    str((resource.get("responseKind") or {}).get("kind")) for resource in version.get("resources") or []
                }
                for version in group.get("versions") or []
            }
            for group in answer.get("items") or []
        }
    served = {
        group["name"]: [version["version"] for version in group.get("versions") or []]
        for group in answer.get("groups") or []
    }
    wanted = sorted({(kind.group, version) for kind in request.kinds for version in served.get(kind.group, [])})
    found: Kinds = {}
    with ThreadPoolExecutor(max_workers=8) as threads:
        lists = threads.map(lambda pair: _ask(cluster, f"/apis/{pair[0]}/{pair[1]}", "application/json"), wanted)
    for (group, version), resources in zip(wanted, lists, strict=True):
        names = {str(item.get("kind")) for item in (_good(resources) or {}).get("resources") or []}
        found.setdefault(group, {})[version] = names
    return found


def _judge_kinds(required: Iterable[RequiredKind], findings: Findings, found: Kinds) -> None:
    """One problem for each add-on and sort of lack, naming every kind: the whole list at once."""
    missing: dict[tuple[str, str, str], list[str]] = {}
    for kind in required:
        if not kind.group:
            continue
        versions = found.get(kind.group, {})
        if kind.kind in versions.get(kind.version, set()):
            continue
        others = sorted(version for version, kinds in versions.items() if kind.kind in kinds)
        code = "api-version-missing" if others else "api-missing"
        served = f" (served: {', '.join(others)})" if others else ""
        missing.setdefault((code, kind.addon, kind.how), []).append(f"{kind.kind} {kind.api_version}{served}")
    for (code, addon, how), names in sorted(missing.items()):
        lack = "does not serve the needed version of" if code == "api-version-missing" else "has no"
        findings.add(code, addon, f"{addon}: the cluster {lack} {', '.join(sorted(set(names)))}", how)


def _judge_nodes(request: Request, findings: Findings, present: list[str]) -> None:
    for name in request.nodes:
        if name not in present:
            near = nearest(name, present)
            findings.add(
                "node-missing",
                name,
                f"the cluster has no node {name}" + (f"; it has {near}" if near else ""),
                "join the node to the cluster, or take it from its pool",
            )


def _node(item: Mapping[str, Any]) -> Plain:
    metadata, spec, status = item.get("metadata") or {}, item.get("spec") or {}, item.get("status") or {}
    cards = str((status.get("allocatable") or {}).get(GPU, "0"))
    return {
        "name": metadata.get("name", ""),
        "ready": any(
            condition.get("type") == "Ready" and condition.get("status") == "True"
            for condition in status.get("conditions") or []
        ),
        "unschedulable": bool(spec.get("unschedulable")),
        "gpus": int(cards) if cards.isdecimal() else 0,
        "labels": {key: value for key, value in (metadata.get("labels") or {}).items() if key.startswith(SHOWN_LABELS)},
        "taints": [
            {"key": taint.get("key", ""), "value": taint.get("value") or "", "effect": taint.get("effect", "")}
            for taint in spec.get("taints") or []
        ],
    }

"""The sandbox stack with changes, and the business and vector tiers of it recorded together."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from components.business import BusinessTier, BusinessTierArgs
from components.vector import VectorStore, VectorStoreArgs
from lantau.platform import Platform, load_platform
from lantau.stack import Stack
from tests.unit.components.recording import Recorded, Resource, record

PROJECT = Path(__file__).parents[3]
Changes = Mapping[str, Any]


def platform(changes: Changes | None = None) -> Platform:
    """The sandbox stack, with `changes` laid over it key by key."""
    checked = _sandbox()
    data = _merged(checked.stack.model_dump(mode="json"), changes or {})
    return dataclasses.replace(checked, stack=Stack.model_validate(data))


@cache
def _sandbox() -> Platform:
    return load_platform(PROJECT, "sandbox")


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, Mapping):
        return copy.deepcopy(new)
    return old | {key: _merged(old.get(key), value) for key, value in new.items()}


def previewed(program: Callable[[Platform], object], changes: Changes | None = None) -> Recorded:
    """What `program` registers for such a stack on an empty cluster. Recordings are shared: leave them as they are."""
    return _previewed(program, json.dumps(changes, sort_keys=True))


@cache
def _previewed(program: Callable[[Platform], object], changes: str) -> Recorded:
    found = platform(json.loads(changes))
    return record(lambda: program(found), preview=True)


def _both(found: Platform) -> None:
    VectorStore("vector", VectorStoreArgs(found))
    BusinessTier("business", BusinessTierArgs(found))


def tiers(changes: Changes | None = None) -> Recorded:
    """Both tiers together."""
    return previewed(_both, changes)


def pod(workload: Resource) -> dict[str, Any]:
    """Pod spec of a workload."""
    spec: dict[str, Any] = workload.inputs["spec"]["template"]["spec"]
    return spec


def container(workload: Resource) -> dict[str, Any]:
    """The only container of a workload."""
    (found,) = pod(workload)["containers"]
    return dict(found)


def environment(workload: Resource) -> dict[str, str]:
    """Plain variables of the only container."""
    return {each["name"]: each["value"] for each in container(workload)["env"] if "value" in each}


def needed_by(recorded: Recorded, resource: Resource) -> Iterator[Resource]:
    """Everything that a resource waits for, directly or through its parents."""
    by_urn = {each.urn: each for each in recorded.resources}
    seen: set[str] = set()
    queue = [resource.urn]
    while queue:
        current = by_urn.get(queue.pop())
        if current is None:
            continue
        for urn in (*current.depends_on, *([current.parent] if current is not resource else [])):
            if urn in by_urn and urn not in seen:
                seen.add(urn)
                queue.append(urn)
    yield from (by_urn[urn] for urn in seen)

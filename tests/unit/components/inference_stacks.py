"""The sandbox stack in the states that a model goes through: canary, promotion, rollback."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from components.inference import ServedModel, ServedModelArgs
from lantau.platform import Platform, load_platform
from lantau.release import Release, read_release
from lantau.stack import Stack
from tests.unit.components.recording import Recorded, Resource, record

PROJECT = Path(__file__).parents[3]

CANARY: dict[str, Any] = {
    "stable": "qwen3-8b-r2",
    "canary": {"release": "qwen3-8b-r3", "weight": 5, "replicas": 1},
    "previous": "qwen3-8b-r1",
}
PROMOTED: dict[str, Any] = {"stable": "qwen3-8b-r3", "canary": None, "previous": "qwen3-8b-r2"}
ROLLED_BACK: dict[str, Any] = {"stable": "qwen3-8b-r2", "canary": None, "previous": "qwen3-8b-r3"}


def platform(releases: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None, **model: Any) -> Platform:
    """The sandbox stack with changes to model `chat`, and to its releases by name and section."""
    checked = _sandbox()
    data = copy.deepcopy(checked.stack.model_dump(mode="json"))
    data["models"]["chat"].update(CANARY | model)
    stack = Stack.model_validate(data)
    found = {
        ("chat", name): _changed(_release(name), (releases or {}).get(name, {}))
        for name, _ in stack.models["chat"].replicas_by_release()
    }
    return dataclasses.replace(checked, stack=stack, releases=found)


@cache
def _sandbox() -> Platform:
    return load_platform(PROJECT, "sandbox")


@cache
def _release(name: str) -> Release:
    return read_release(PROJECT, "chat", name)


def _changed(release: Release, sections: Mapping[str, Mapping[str, Any]]) -> Release:
    data = release.model_dump(mode="json")
    for section, values in sections.items():
        data[section].update(values)
    return Release.model_validate(data)


def served(releases: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None, **model: Any) -> Recorded:
    """Record the served model `chat` of such a stack, as a preview on an empty cluster."""
    return record(lambda: ServedModel("chat", ServedModelArgs(platform(releases, **model), "chat")), preview=True)


def difference(before: Recorded, after: Recorded) -> dict[str, set[tuple[str, str]]]:
    """What an update from one recording to another would do to real resources: (kind, Kubernetes name) by operation."""
    old, new = _by_urn(before), _by_urn(after)
    return {
        "create": {_short(new[urn]) for urn in new.keys() - old.keys()},
        "delete": {_short(old[urn]) for urn in old.keys() - new.keys()},
        "update": {_short(new[urn]) for urn in new.keys() & old.keys() if new[urn].inputs != old[urn].inputs},
    }


def _by_urn(recorded: Recorded) -> dict[str, Resource]:
    return {each.urn: each for each in recorded.resources if each.custom}


def _short(resource: Resource) -> tuple[str, str]:
    return resource.type.rpartition(":")[2], resource.kubernetes_name

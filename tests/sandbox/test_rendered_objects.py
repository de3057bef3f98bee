"""Every object of every stack, judged by a real API server: no field is unknown, no rule of a definition is broken."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.business import BusinessTier, BusinessTierArgs
from components.cluster import Baseline, BaselineArgs, gpu_quotas
from components.inference import (
    BatchJob,
    BatchJobArgs,
    InferenceGateway,
    InferenceGatewayArgs,
    ServedModel,
    ServedModelArgs,
)
from components.vector import VectorStore, VectorStoreArgs
from lantau.platform import load_platform
from tests.unit.components.recording import record

PROJECT = Path(__file__).parents[2]
STACKS = sorted(path.name.split(".")[1] for path in PROJECT.glob("Pulumi.*.yaml"))

Kubectl = Callable[..., str]


def rendered(stack: str) -> list[dict[str, Any]]:
    """Every Kubernetes object of a stack. Those of a namespace are moved to `default`, which always exists."""
    platform = load_platform(PROJECT, stack)

    def program() -> None:
        Baseline("baseline", BaselineArgs(gpu_quotas(platform.stack), platform.stack.protect_data))
        VectorStore("vector", VectorStoreArgs(platform))
        InferenceGateway("inference", InferenceGatewayArgs(platform))
        for name in platform.stack.models:
            ServedModel(name, ServedModelArgs(platform, name))
        for name in platform.stack.batch:
            BatchJob(name, BatchJobArgs(platform, name))
        BusinessTier("business", BusinessTierArgs(platform))

    objects = [json.loads(json.dumps(each.inputs)) for each in record(program).resources if "kind" in each.inputs]
    for body in objects:
        if "namespace" in body["metadata"]:
            body["metadata"]["namespace"] = "default"
    return objects


def refused(kubectl: Kubectl, objects: list[dict[str, Any]]) -> str:
    """What the server says against the objects; empty when it would take all of them."""
    try:
        kubectl(
            *("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"),
            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}),
        )
    except subprocess.CalledProcessError as error:
        return str(error.stderr)
    return ""


@pytest.mark.parametrize("stack", STACKS)
def test_the_server_knows_every_field_of_every_object(stack: str, kubectl: Kubectl) -> None:
    objects = rendered(stack)
    assert len(objects) > 60, "a stack has more than that"
    assert refused(kubectl, objects) == ""


def test_a_misspelt_field_would_be_told(kubectl: Kubectl) -> None:
    (route, *_) = (each for each in rendered(STACKS[0]) if each["kind"] == "HTTPRoute")
    route["spec"]["hostname"] = "ai.example.hk"
    assert 'unknown field "hostname"' in refused(kubectl, [route])

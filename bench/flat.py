"""The same resources as a stack declares, but flat: no components, no checks, no policies. The yardstick of the bench.

Run by the engine as a program of its own; it reads the resources from flat.json beside it and declares each with the
class that its SDK has for it, as a person would in one long file.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as k8s


class Anything(pulumi.CustomResource):
    """A resource of a type whose SDK has no class for it here."""


class AnyProvider(pulumi.ProviderResource):
    """A provider of any package."""


def snake(name: str) -> str:
    """`apiVersion` as the SDK's parameter `api_version`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def declare_one(token: str, name: str, inputs: dict[str, Any], provider: pulumi.ProviderResource | None) -> None:
    """Declare one resource by its SDK's class."""
    opts = pulumi.ResourceOptions(provider=provider)
    package, module, kind = re.split(":", token)
    if package != "kubernetes":
        Anything(token, name, inputs, opts)
        return
    group, version = module.split("/")
    try:
        path = f"pulumi_kubernetes.{group.removesuffix('.k8s.io').split('.')[0]}.{version}"
        cls = getattr(importlib.import_module(path), kind)
    except (ImportError, AttributeError):
        k8s.apiextensions.CustomResource(
            name,
            api_version=inputs["apiVersion"],
            kind=inputs["kind"],
            metadata=inputs["metadata"],
            spec=inputs["spec"],
            opts=opts,
        )
        return
    given = {snake(key): value for key, value in inputs.items() if key not in ("apiVersion", "kind")}
    cls(name, **given, opts=opts)


def declare(resources: list[dict[str, Any]]) -> None:
    """Declare every resource with its inputs, each below the stack, with its package's provider if one is declared."""
    providers: dict[str, pulumi.ProviderResource] = {}
    for resource in resources:
        token, name = resource["type"], resource["name"]
        if token.startswith("pulumi:providers:"):
            package = token.removeprefix("pulumi:providers:")
            providers[package] = AnyProvider(package, name, resource["inputs"])
        else:
            declare_one(token, name, resource["inputs"], providers.get(token.split(":")[0]))


if __name__ == "__main__":
    declare(json.loads((Path(__file__).parent / "flat.json").read_text(encoding="utf-8")))

"""The same resources as a stack declares, but flat: no components, no checks, no policies. The yardstick of the bench.

Run by the engine as a program of its own; it reads the resources from flat.json beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi


class Anything(pulumi.CustomResource):
    """A resource of any type with given inputs."""

    def __init__(self, token: str, name: str, inputs: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(token, name, inputs, opts)


class AnyProvider(pulumi.ProviderResource):
    """A provider of any package."""

    def __init__(self, package: str, name: str, inputs: dict[str, Any]) -> None:
        super().__init__(package, name, inputs)


def declare(resources: list[dict[str, Any]]) -> None:
    """Register every resource with its inputs, each below the stack, each with its package's provider if one is declared."""
    providers: dict[str, pulumi.ProviderResource] = {}
    for resource in resources:
        token, name = resource["type"], resource["name"]
        if token.startswith("pulumi:providers:"):
            package = token.removeprefix("pulumi:providers:")
            providers[package] = AnyProvider(package, name, resource["inputs"])
        else:
            provider = providers.get(token.split(":")[0])
            Anything(token, name, resource["inputs"], pulumi.ResourceOptions(provider=provider))


if __name__ == "__main__":
    declare(json.loads((Path(__file__).parent / "flat.json").read_text(encoding="utf-8")))

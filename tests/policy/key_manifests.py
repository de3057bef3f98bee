"""Manifests that hold a key in one place, for the tests of the KEY rules."""

from typing import Any

from tests.policy.manifests import container
from tests.policy.samples import NAMED, SHAPED, URLS

PAIRS = [*NAMED, *(("NOTE", value) for value in [*SHAPED, *URLS])]


def env(name: str, value: Any) -> dict[str, Any]:
    return container(env=[{"name": "HOME", "value": "/"}, {"name": name, "value": value}])


def config_map(name: str, value: Any, field: str = "data") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app"}, field: {name: value}}


def secret(field: str = "stringData", **data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "app"}, field: data}


def release(**values: Any) -> dict[str, Any]:
    return {"chart": "redis", "values": values}


HELM = "kubernetes:helm.sh/v3:Release"

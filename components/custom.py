"""Custom resources from typed models: a misspelt field fails here, not on the API server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes as k8s
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Spec(BaseModel):
    """Base of the models of custom resources: snake_case in Python, camelCase on the wire, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def wire(self) -> dict[str, Any]:
        """The fields as the API server takes them; fields that were not set are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class CustomSpec(Spec):
    """Base of the `spec` of one kind of custom resource."""

    API_VERSION: ClassVar[str]
    KIND: ClassVar[str]


def custom_resource(
    resource_name: str,
    spec: CustomSpec,
    *,
    name: str,
    namespace: str | None,
    labels: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    annotations: Mapping[str, str] | None = None,
) -> k8s.apiextensions.CustomResource:
    """Declare a custom resource. `namespace` is None for kinds of cluster scope."""
    return k8s.apiextensions.CustomResource(
        resource_name,
        api_version=spec.API_VERSION,
        kind=spec.KIND,
        metadata=k8s.meta.v1.ObjectMetaArgs(
            name=name,
            namespace=namespace,
            labels=dict(sorted(labels.items())),
            annotations=dict(sorted(annotations.items())) if annotations else None,
        ),
        spec=spec.wire(),
        opts=opts,
    )

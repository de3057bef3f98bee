"""Kinds that both gateways use (Gateway API v1.6, Envoy Gateway v1.9).

Defaults of the server inside of lists are written out, so that nothing drifts.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from components.custom import Spec

GATEWAY_API = "gateway.networking.k8s.io/v1"
ENVOY_API = "gateway.envoyproxy.io/v1alpha1"


class TargetRef(Spec):
    """What a policy of Envoy Gateway is attached to."""

    group: Literal["gateway.networking.k8s.io"] = "gateway.networking.k8s.io"
    kind: Literal["Gateway", "HTTPRoute"]
    name: str


class ParametersRef(Spec):
    """The EnvoyProxy that shapes the proxies of a Gateway."""

    group: Literal["gateway.envoyproxy.io"] = "gateway.envoyproxy.io"
    kind: Literal["EnvoyProxy"] = "EnvoyProxy"
    name: str


class Infrastructure(Spec):
    """How a Gateway is run."""

    parameters_ref: ParametersRef


class RouteNamespaces(Spec):
    """Routes of other namespaces cannot attach."""

    from_: Literal["Same"] = Field(default="Same", alias="from")


class RouteKind(Spec):
    """A kind of route that may attach."""

    group: Literal["gateway.networking.k8s.io"] = "gateway.networking.k8s.io"
    kind: Literal["HTTPRoute"] = "HTTPRoute"


class AllowedRoutes(Spec):
    """Which routes may attach to a listener."""

    namespaces: RouteNamespaces = RouteNamespaces()
    kinds: list[RouteKind] = Field(default_factory=lambda: [RouteKind()])


class ParentRef(Spec):
    """The listener that a route belongs to."""

    group: Literal["gateway.networking.k8s.io"] = "gateway.networking.k8s.io"
    kind: Literal["Gateway"] = "Gateway"
    name: str
    section_name: str


class BackendRef(Spec):
    """A Service and its share of the requests."""

    group: Literal[""] = ""
    kind: Literal["Service"] = "Service"
    name: str
    port: int
    weight: int = Field(default=1, ge=0, le=100)


class RouteTimeouts(Spec):
    """Bounds of a request, such as "224s"."""

    request: str = Field(pattern=r"^[0-9]{1,5}s$")


class Limit(Spec):
    """Requests in a unit of time."""

    requests: int = Field(ge=1)
    unit: Literal["Second"] = "Second"


class TcpTimeout(Spec):
    """Bounds of a connection."""

    connect_timeout: str


class LoadBalancer(Spec):
    """How a pod is chosen."""

    type: Literal["LeastRequest"] = "LeastRequest"


class PathSettings(Spec):
    """What is done with odd paths before they are matched."""

    escaped_slashes_action: Literal["RejectRequest"] = "RejectRequest"
    disable_merge_slashes: bool = False

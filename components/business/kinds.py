"""Kinds of the edge gateway: its listener, its route, and who gets in (Gateway API v1.6, Envoy Gateway v1.9)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from components.custom import CustomSpec, Spec
from components.gateways.kinds import (
    ENVOY_API,
    GATEWAY_API,
    AllowedRoutes,
    BackendRef,
    Infrastructure,
    ParentRef,
    RouteTimeouts,
    TargetRef,
)


class SecretRef(Spec):
    """A Secret of the Gateway's own namespace."""

    group: Literal[""] = ""
    kind: Literal["Secret"] = "Secret"
    name: str


class ListenerTls(Spec):
    """TLS ends at the proxy."""

    mode: Literal["Terminate"] = "Terminate"
    certificate_refs: list[SecretRef] = Field(min_length=1, max_length=1)


class TlsListener(Spec):
    """A port that speaks HTTPS for one host; there is no other kind of listener at the edge."""

    name: str
    port: int = Field(ge=1, le=65535)
    protocol: Literal["HTTPS"] = "HTTPS"
    hostname: str
    tls: ListenerTls
    allowed_routes: AllowedRoutes = AllowedRoutes()


class GatewaySpec(CustomSpec):
    """A Gateway."""

    API_VERSION: ClassVar[str] = GATEWAY_API
    KIND: ClassVar[str] = "Gateway"

    gateway_class_name: str
    infrastructure: Infrastructure
    listeners: list[TlsListener] = Field(min_length=1)


class PathMatch(Spec):
    """A path and everything below it."""

    type: Literal["PathPrefix"] = "PathPrefix"
    value: str = Field(pattern=r"^/.+[^/]$")


class RouteMatch(Spec):
    """Which requests a rule takes."""

    path: PathMatch


class RouteRule(Spec):
    """Requests that match go to the Service."""

    name: str
    matches: list[RouteMatch] = Field(min_length=1)
    backend_refs: list[BackendRef] = Field(min_length=1)
    timeouts: RouteTimeouts


class HttpRouteSpec(CustomSpec):
    """An HTTPRoute. What no rule matches is answered with 404."""

    API_VERSION: ClassVar[str] = GATEWAY_API
    KIND: ClassVar[str] = "HTTPRoute"

    parent_refs: list[ParentRef] = Field(min_length=1)
    hostnames: list[str] = Field(min_length=1)
    rules: list[RouteRule] = Field(min_length=1)


class KeyHeaders(Spec):
    """Headers that a key is looked for in; never the query, which ends up in logs."""

    headers: list[str] = Field(min_length=1)


class ApiKeyAuth(Spec):
    """Callers prove themselves with a key; each field of the Secret is a client's name and key."""

    credential_refs: list[SecretRef] = Field(min_length=1)
    extract_from: list[KeyHeaders] = Field(min_length=1)
    forward_client_id_header: str = Field(alias="forwardClientIDHeader")
    sanitize: Literal[True] = True


class HeaderPrincipal(Spec):
    """A header and the values that it may have."""

    name: str
    values: list[str] = Field(min_length=1, max_length=256)


class Principal(Spec):
    """Who may come in."""

    headers: list[HeaderPrincipal] = Field(min_length=1)


class AuthorizationRule(Spec):
    """Somebody who may come in."""

    name: str
    action: Literal["Allow"] = "Allow"
    principal: Principal


class Authorization(Spec):
    """Nobody comes in but by a rule."""

    default_action: Literal["Deny"] = "Deny"
    rules: list[AuthorizationRule] = Field(min_length=1)


class SecurityPolicySpec(CustomSpec):
    """Who may call a Gateway."""

    API_VERSION: ClassVar[str] = ENVOY_API
    KIND: ClassVar[str] = "SecurityPolicy"

    target_refs: list[TargetRef] = Field(min_length=1)
    api_key_auth: ApiKeyAuth
    authorization: Authorization

"""Kinds of the inference gateway and of its routes (Gateway API v1.6, Envoy Gateway v1.9)."""

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
    Limit,
    LoadBalancer,
    ParentRef,
    PathSettings,
    RouteTimeouts,
    TargetRef,
    TcpTimeout,
)


class Listener(Spec):
    """A port of a Gateway."""

    name: str
    port: int = Field(ge=1, le=65535)
    protocol: Literal["HTTP"]
    allowed_routes: AllowedRoutes = AllowedRoutes()


class GatewaySpec(CustomSpec):
    """A Gateway."""

    API_VERSION: ClassVar[str] = GATEWAY_API
    KIND: ClassVar[str] = "Gateway"

    gateway_class_name: str
    infrastructure: Infrastructure
    listeners: list[Listener] = Field(min_length=1)


class PathMatch(Spec):
    """A whole path; prefixes would open the engine's other routes."""

    type: Literal["Exact"] = "Exact"
    value: str = Field(pattern=r"^/")


class RouteMatch(Spec):
    """Which requests a rule takes."""

    path: PathMatch
    method: Literal["GET", "POST"]


class PathRewrite(Spec):
    """The path that the engine sees."""

    type: Literal["ReplaceFullPath"] = "ReplaceFullPath"
    replace_full_path: str


class UrlRewrite(Spec):
    """What of the address is rewritten."""

    path: PathRewrite


class RouteFilter(Spec):
    """What is done to a request on its way."""

    type: Literal["URLRewrite"] = "URLRewrite"
    url_rewrite: UrlRewrite


class RouteRule(Spec):
    """Requests that match go to the Services by weight."""

    name: str
    matches: list[RouteMatch] = Field(min_length=1)
    filters: list[RouteFilter]
    backend_refs: list[BackendRef] = Field(min_length=1)
    timeouts: RouteTimeouts


class HttpRouteSpec(CustomSpec):
    """An HTTPRoute."""

    API_VERSION: ClassVar[str] = GATEWAY_API
    KIND: ClassVar[str] = "HTTPRoute"

    parent_refs: list[ParentRef] = Field(min_length=1)
    rules: list[RouteRule] = Field(min_length=1)


class LimitRule(Spec):
    """A limit on every request of the route."""

    limit: Limit


class LocalRateLimit(Spec):
    """Limits that each proxy counts by itself."""

    rules: list[LimitRule]


class RateLimit(Spec):
    """Limits of a route."""

    local: LocalRateLimit


class Percent(Spec):
    """A share of 100."""

    numerator: int = Field(ge=0, le=100)
    denominator: Literal[100] = 100


class RetryBudget(Spec):
    """How many of the running requests may be retries."""

    percent: Percent
    min_retry_concurrency: int = Field(ge=1)


class CircuitBreaker(Spec):
    """What one proxy may have open towards a route's engines; more is answered with 503 at once."""

    max_connections: int = Field(ge=1)
    max_parallel_requests: int = Field(ge=1)
    max_pending_requests: int = Field(ge=1)
    retry_budget: RetryBudget


class RetryOn(Spec):
    """What is tried again. Each of these means that no part of an answer has been sent."""

    triggers: list[Literal["connect-failure", "refused-stream", "reset-before-request", "retriable-status-codes"]]
    http_status_codes: list[int]


class BackOff(Spec):
    """Time between attempts; Envoy adds jitter."""

    base_interval: str
    max_interval: str


class PerRetry(Spec):
    """What holds for each attempt."""

    back_off: BackOff


class Retry(Spec):
    """Further attempts on another pod."""

    num_retries: int = Field(ge=0, le=5)
    per_retry: PerRetry
    retry_on: RetryOn


class HttpTimeout(Spec):
    """Bounds of what happens on a connection to an engine."""

    connection_idle_timeout: str


class BackendTimeout(Spec):
    """Bounds towards the engines."""

    tcp: TcpTimeout
    http: HttpTimeout


class PassiveHealthCheck(Spec):
    """When a pod is left out because of what it answered."""

    base_ejection_time: str
    interval: str
    consecutive_5xx_errors: int = Field(ge=1, alias="consecutive5XxErrors")
    consecutive_local_origin_failures: int = Field(ge=1)
    max_ejection_percent: int = Field(ge=1, le=100)
    split_external_local_origin_errors: bool
    always_eject_one_endpoint: bool = False


class HealthCheck(Spec):
    """Health of the pods as the gateway sees it."""

    passive: PassiveHealthCheck


class BackendTrafficPolicySpec(CustomSpec):
    """How a route's requests are limited, retried and spread."""

    API_VERSION: ClassVar[str] = ENVOY_API
    KIND: ClassVar[str] = "BackendTrafficPolicy"

    target_refs: list[TargetRef]
    rate_limit: RateLimit
    circuit_breaker: CircuitBreaker
    retry: Retry
    timeout: BackendTimeout
    health_check: HealthCheck
    load_balancer: LoadBalancer = LoadBalancer()


class HeaderSettings(Spec):
    """What is done with headers."""

    request_id: Literal["PreserveOrGenerate"] = Field(default="PreserveOrGenerate", alias="requestID")
    with_underscores_action: Literal["RejectRequest"] = "RejectRequest"


class ClientConnection(Spec):
    """Bounds of a connection from a caller."""

    buffer_limit: str


class ClientHttpTimeout(Spec):
    """Bounds of a caller's request."""

    request_received_timeout: str
    idle_timeout: str


class ClientTimeout(Spec):
    """Bounds towards callers."""

    http: ClientHttpTimeout


class ClientTrafficPolicySpec(CustomSpec):
    """How a Gateway treats its callers."""

    API_VERSION: ClassVar[str] = ENVOY_API
    KIND: ClassVar[str] = "ClientTrafficPolicy"

    target_refs: list[TargetRef]
    headers: HeaderSettings = HeaderSettings()
    path: PathSettings = PathSettings()
    connection: ClientConnection
    timeout: ClientTimeout

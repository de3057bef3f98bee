"""Gateway API and Envoy Gateway kinds as far as the inference tier uses them (Gateway API v1.6, Envoy Gateway v1.9)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from components.custom import CustomSpec, Spec

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


class ParentRef(Spec):
    """The listener that a route belongs to. The defaults are the server's own, so that nothing drifts."""

    group: Literal["gateway.networking.k8s.io"] = "gateway.networking.k8s.io"
    kind: Literal["Gateway"] = "Gateway"
    name: str
    section_name: str


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


class BackendRef(Spec):
    """A Service and its share of the requests."""

    group: Literal[""] = ""
    kind: Literal["Service"] = "Service"
    name: str
    port: int
    weight: int = Field(ge=0, le=100)


class RouteTimeouts(Spec):
    """Bounds of a request, such as "224s"."""

    request: str = Field(pattern=r"^[0-9]{1,5}s$")


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


class Limit(Spec):
    """Requests in a unit of time."""

    requests: int = Field(ge=1)
    unit: Literal["Second"] = "Second"


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


class TcpTimeout(Spec):
    """Bounds of a connection."""

    connect_timeout: str


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


class LoadBalancer(Spec):
    """How a pod is chosen."""

    type: Literal["LeastRequest"] = "LeastRequest"


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

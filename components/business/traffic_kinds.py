"""Kinds of the edge gateway: how it treats callers, and how requests reach the backend (Envoy Gateway v1.9)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from components.custom import CustomSpec, Spec
from components.gateways.kinds import ENVOY_API, Limit, LoadBalancer, PathSettings, TargetRef, TcpTimeout


class HeaderValue(Spec):
    """A header and its value."""

    name: str
    value: str


class RequestHeaders(Spec):
    """Headers of a caller that are dropped before anything reads them."""

    remove: list[str]


class ResponseHeaders(Spec):
    """Headers that every answer gets."""

    set_: list[HeaderValue] = Field(alias="set")


class HeaderSettings(Spec):
    """What is done with headers. The request id is our own: a caller cannot choose what our logs say."""

    request_id: Literal["Generate"] = Field(default="Generate", alias="requestID")
    with_underscores_action: Literal["RejectRequest"] = "RejectRequest"
    early_request_headers: RequestHeaders
    late_response_headers: ResponseHeaders


class TlsSettings(Spec):
    """TLS towards callers."""

    min_version: Literal["1.2", "1.3"] = "1.2"


class ConnectionLimit(Spec):
    """Connections that one proxy takes; more are closed."""

    value: int = Field(ge=1)


class ClientConnection(Spec):
    """Bounds of connections from callers."""

    connection_limit: ConnectionLimit


class ClientHttpTimeout(Spec):
    """Bounds of a caller's request."""

    request_headers_received_timeout: str
    request_received_timeout: str
    idle_timeout: str
    stream_idle_timeout: str


class ClientTimeout(Spec):
    """Bounds towards callers."""

    http: ClientHttpTimeout


class ListenerHealth(Spec):
    """A path that the proxy answers itself: 200 while it serves, 503 once it drains."""

    path: str


class ClientTrafficPolicySpec(CustomSpec):
    """How a Gateway treats its callers."""

    API_VERSION: ClassVar[str] = ENVOY_API
    KIND: ClassVar[str] = "ClientTrafficPolicy"

    target_refs: list[TargetRef]
    tls: TlsSettings = TlsSettings()
    headers: HeaderSettings
    path: PathSettings = PathSettings()
    connection: ClientConnection
    timeout: ClientTimeout
    health_check: ListenerHealth


class HeaderMatch(Spec):
    """Every value of a header is counted by itself; or only values that match the expression `value` are meant."""

    type: Literal["Distinct", "RegularExpression"] = "Distinct"
    name: str
    value: str | None = Field(default=None, max_length=1024)


class ClientSelector(Spec):
    """What makes two requests come from the same client."""

    headers: list[HeaderMatch] = Field(min_length=1)


class LimitRule(Spec):
    """A limit for each client."""

    client_selectors: list[ClientSelector]
    limit: Limit


class LocalRateLimit(Spec):
    """Limits that each proxy counts by itself."""

    rules: list[LimitRule]


class RateLimit(Spec):
    """Limits of a route."""

    local: LocalRateLimit


class CircuitBreaker(Spec):
    """What one proxy may have open towards the backend; more is answered with 503 at once."""

    max_connections: int = Field(ge=1)
    max_parallel_requests: int = Field(ge=1)
    max_pending_requests: int = Field(ge=1)


class RetryOn(Spec):
    """What is tried again. Each of these means that the backend has not seen the request."""

    triggers: list[Literal["connect-failure", "refused-stream"]]


class Retry(Spec):
    """Further attempts on another pod."""

    num_retries: int = Field(ge=0, le=5)
    retry_on: RetryOn


class BackendTimeout(Spec):
    """Bounds towards the backend."""

    tcp: TcpTimeout


class RequestBuffer(Spec):
    """Requests are taken in whole before the backend sees them; larger ones are answered with 413."""

    limit: str = Field(pattern=r"^[1-9][0-9]*(Ki|Mi)$")


class BackendTrafficPolicySpec(CustomSpec):
    """How a route's requests are limited, retried and spread."""

    API_VERSION: ClassVar[str] = ENVOY_API
    KIND: ClassVar[str] = "BackendTrafficPolicy"

    target_refs: list[TargetRef]
    rate_limit: RateLimit
    request_buffer: RequestBuffer
    circuit_breaker: CircuitBreaker
    retry: Retry
    timeout: BackendTimeout
    load_balancer: LoadBalancer = LoadBalancer()

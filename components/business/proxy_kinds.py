"""Kinds that shape the edge gateway's proxies (Envoy Gateway v1.9)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from components.business.kinds import ENVOY_API, TargetRef
from components.custom import CustomSpec, Spec


class Quantities(Spec):
    """CPU and memory as Kubernetes writes them."""

    cpu: str
    memory: str


class ProxyResources(Spec):
    """Requests and limits of one proxy. Envoy sheds load at four fifths of the memory limit."""

    requests: Quantities
    limits: Quantities


class ProxyContainer(Spec):
    """Envoy's container. Image and security context stay the controller's: it pins the one, and hardens the other."""

    resources: ProxyResources


class LabelSelector(Spec):
    """Pods by labels."""

    match_labels: dict[str, str]


class SpreadConstraint(Spec):
    """How unevenly pods may be spread over nodes."""

    max_skew: int = 1
    topology_key: Literal["kubernetes.io/hostname"] = "kubernetes.io/hostname"
    when_unsatisfiable: Literal["ScheduleAnyway"] = "ScheduleAnyway"
    label_selector: LabelSelector


class ProxyPod(Spec):
    """Where a proxy runs."""

    node_selector: dict[str, str]
    priority_class_name: str
    topology_spread_constraints: list[SpreadConstraint]


class ProxyDeployment(Spec):
    """The proxies of a Gateway."""

    replicas: int = Field(ge=1)
    container: ProxyContainer
    pod: ProxyPod


class ProxyService(Spec):
    """The Service in front of the proxies, with an address outside the cluster.

    Traffic stays on the node it arrives at: Envoy sees the caller's own address.
    """

    type: Literal["LoadBalancer"] = "LoadBalancer"
    external_traffic_policy: Literal["Local"] = "Local"


class ProxyDisruption(Spec):
    """How many proxies may be away at once on purpose."""

    max_unavailable: int = 1


class KubernetesProvider(Spec):
    """What Envoy Gateway makes in the cluster for a Gateway."""

    envoy_deployment: ProxyDeployment
    envoy_service: ProxyService = ProxyService()
    envoy_pdb: ProxyDisruption = Field(default=ProxyDisruption(), alias="envoyPDB")


class Provider(Spec):
    """The infrastructure provider."""

    type: Literal["Kubernetes"] = "Kubernetes"
    kubernetes: KubernetesProvider


class LogFile(Spec):
    """Where the log is written."""

    path: Literal["/dev/stdout"] = "/dev/stdout"


class LogSink(Spec):
    """A sink of the access log."""

    type: Literal["File"] = "File"
    file: LogFile = LogFile()


class LogFormat(Spec):
    """One JSON object a request. Fields by name; values are Envoy's command operators."""

    type: Literal["JSON"] = "JSON"
    fields_: dict[str, str] = Field(alias="json")


class LogSetting(Spec):
    """One access log."""

    format: LogFormat
    sinks: list[LogSink]


class AccessLog(Spec):
    """The access logs of the proxies."""

    settings: list[LogSetting]


class Telemetry(Spec):
    """What the proxies tell of themselves."""

    access_log: AccessLog


class Shutdown(Spec):
    """How a proxy ends; the controller adds five minutes to the drain for the pod's grace period."""

    drain_timeout: str
    min_drain_duration: str


class EnvoyProxySpec(CustomSpec):
    """The proxies of a Gateway."""

    API_VERSION: ClassVar[str] = ENVOY_API
    KIND: ClassVar[str] = "EnvoyProxy"

    provider: Provider
    shutdown: Shutdown
    telemetry: Telemetry


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


class PathSettings(Spec):
    """What is done with odd paths before they are matched."""

    escaped_slashes_action: Literal["RejectRequest"] = "RejectRequest"
    disable_merge_slashes: bool = False


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
    """Every value of a header is counted by itself."""

    type: Literal["Distinct"] = "Distinct"
    name: str


class ClientSelector(Spec):
    """What makes two requests come from the same client."""

    headers: list[HeaderMatch] = Field(min_length=1)


class Limit(Spec):
    """Requests in a unit of time."""

    requests: int = Field(ge=1)
    unit: Literal["Second"] = "Second"


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


class TcpTimeout(Spec):
    """Bounds of a connection."""

    connect_timeout: str


class BackendTimeout(Spec):
    """Bounds towards the backend."""

    tcp: TcpTimeout


class LoadBalancer(Spec):
    """How a pod is chosen."""

    type: Literal["LeastRequest"] = "LeastRequest"


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

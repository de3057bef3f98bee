"""Kinds that shape a Gateway's proxies (Envoy Gateway v1.9)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from components.custom import CustomSpec, Spec
from components.inference.kinds import ENVOY_API, TargetRef


class Quantities(Spec):
    """CPU and memory as Kubernetes writes them."""

    cpu: str
    memory: str


class ProxyResources(Spec):
    """Requests and limits of one proxy."""

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
    when_unsatisfiable: Literal["ScheduleAnyway", "DoNotSchedule"] = "ScheduleAnyway"
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
    """The Service in front of the proxies."""

    name: str
    type: Literal["ClusterIP"] = "ClusterIP"


class ProxyDisruption(Spec):
    """How many proxies may be away at once on purpose."""

    max_unavailable: int = 1


class KubernetesProvider(Spec):
    """What Envoy Gateway makes in the cluster for a Gateway."""

    envoy_deployment: ProxyDeployment
    envoy_service: ProxyService
    envoy_pdb: ProxyDisruption = Field(alias="envoyPDB")


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


class HeaderSettings(Spec):
    """What is done with headers."""

    request_id: Literal["PreserveOrGenerate"] = Field(default="PreserveOrGenerate", alias="requestID")
    with_underscores_action: Literal["RejectRequest"] = "RejectRequest"


class PathSettings(Spec):
    """What is done with odd paths before they are matched."""

    escaped_slashes_action: Literal["RejectRequest"] = "RejectRequest"
    disable_merge_slashes: bool = False


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

"""The proxies of a Gateway: the kind that shapes them, and what is the same for every Gateway of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from components.custom import CustomSpec, Spec
from components.gateways.kinds import ENVOY_API
from lantau.endpoints import proxy_labels
from lantau.labels import POOL_LABEL

PROXY_CPU: Final = "500m"
PROXY_CPU_LIMIT: Final = "2"
PROXY_MEMORY: Final = "1Gi"


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
    """The Service in front of the proxies; without a name the controller makes one up.

    With the external traffic policy Local, traffic stays on the node it arrives at: Envoy sees the caller's address.
    """

    name: str | None = None
    type: Literal["ClusterIP", "LoadBalancer"]
    external_traffic_policy: Literal["Local"] | None = None


class ProxyDisruption(Spec):
    """How many proxies may be away at once on purpose."""

    max_unavailable: int = 1


class KubernetesProvider(Spec):
    """What Envoy Gateway makes in the cluster for a Gateway."""

    envoy_deployment: ProxyDeployment
    envoy_service: ProxyService
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


def envoy_proxies(
    gateway: str,
    namespace: str,
    *,
    replicas: int,
    pool: str,
    priority_class: str,
    service: ProxyService,
    drain_seconds: int,
    access_log: Mapping[str, str],
) -> EnvoyProxySpec:
    """Proxies of a Gateway on the nodes of `pool`, spread over them, with one JSON line a request on standard output.

    `drain_seconds` is how long a proxy that ends lets open requests finish; `access_log` are the fields of the line.
    """
    spread = SpreadConstraint(label_selector=LabelSelector(match_labels=proxy_labels(gateway, namespace)))
    deployment = ProxyDeployment(
        replicas=replicas,
        container=ProxyContainer(
            resources=ProxyResources(
                requests=Quantities(cpu=PROXY_CPU, memory=PROXY_MEMORY),
                limits=Quantities(cpu=PROXY_CPU_LIMIT, memory=PROXY_MEMORY),
            )
        ),
        pod=ProxyPod(
            node_selector={POOL_LABEL: pool},
            priority_class_name=priority_class,
            topology_spread_constraints=[spread],
        ),
    )
    log = LogSetting(format=LogFormat(fields_=dict(access_log)), sinks=[LogSink()])
    return EnvoyProxySpec(
        provider=Provider(kubernetes=KubernetesProvider(envoy_deployment=deployment, envoy_service=service)),
        shutdown=Shutdown(drain_timeout=f"{drain_seconds}s", min_drain_duration="10s"),
        telemetry=Telemetry(access_log=AccessLog(settings=[log])),
    )

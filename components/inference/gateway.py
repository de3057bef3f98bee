"""The internal gateway through which every request reaches a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.custom import CustomSpec, custom_resource
from components.inference import kinds, proxy_kinds
from components.inference.routes import GATEWAY_NAME, LISTENER_NAME, PROXY_REPLICAS
from components.network import Peer
from lantau.labels import NAMESPACE_INFERENCE, POOL_LABEL, PRIORITY_ONLINE, standard_labels
from lantau.platform import Platform
from lantau.release.engine_args import request_timeout_seconds

GATEWAY_CLASS: Final = "envoy-gateway"
PROXY_NAMESPACE: Final = "envoy-gateway-system"
"""Where Envoy Gateway runs the proxies of every Gateway; it belongs to the add-on, not to this program."""
SERVICE_NAME: Final = "inference-gateway"
PORT: Final = 8080
PROXIES: Final = Peer(
    PROXY_NAMESPACE,
    {
        "gateway.envoyproxy.io/owning-gateway-name": GATEWAY_NAME,
        "gateway.envoyproxy.io/owning-gateway-namespace": NAMESPACE_INFERENCE,
    },
)
"""The gateway's proxies, as network policies name them. They listen on `PORT` in the pod too."""

ACCESS_LOG: Final = {
    "time": "%START_TIME%",
    "request_id": "%REQ(X-REQUEST-ID)%",
    "method": "%REQ(:METHOD)%",
    "path": "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%",
    "status": "%RESPONSE_CODE%",
    "flags": "%RESPONSE_FLAGS%",
    "details": "%RESPONSE_CODE_DETAILS%",
    "bytes_received": "%BYTES_RECEIVED%",
    "bytes_sent": "%BYTES_SENT%",
    "duration_ms": "%DURATION%",
    "first_byte_ms": "%RESPONSE_DURATION%",
    "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
    "route": "%ROUTE_NAME%",
    "engine": "%UPSTREAM_HOST%",
    "engine_failure": "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
    "caller": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
}
"""Fields of the access log. No body, no query and no header but the request id: prompts and keys stay out of it."""


def base_url(model: str) -> str:
    """Address of a model for callers in the cluster, as clients of the OpenAI API take it."""
    return f"http://{SERVICE_NAME}.{PROXY_NAMESPACE}.svc:{PORT}/{model}/v1"


@dataclass(frozen=True)
class InferenceGatewayArgs:
    """A checked platform: the gateway follows from its business pool and from its longest answers."""

    platform: Platform

    @property
    def longest_request_seconds(self) -> int:
        """Time that a request may take, over all models."""
        return request_timeout_seconds(self.platform.releases.values())


@dataclass(frozen=True)
class InferenceGatewayResources:
    """What the gateway consists of."""

    proxies: k8s.apiextensions.CustomResource
    gateway: k8s.apiextensions.CustomResource
    callers: k8s.apiextensions.CustomResource


class InferenceGateway(Component):
    """Gateway `inference` with two proxies on the business pool.

    GPU servers do inference and nothing else (E4), and a proxy must outlive any of them; on the business nodes it also
    stands next to those who call it. No address outside the cluster leads to it.
    """

    TOKEN: ClassVar[str] = "lantau:inference:InferenceGateway"

    resources: InferenceGatewayResources

    def __init__(self, name: str, args: InferenceGatewayArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        proxies = self._declare(f"{name}-proxies", _proxies(args))
        gateway = self._declare(f"{name}-gateway", _gateway(), [proxies])
        callers = self._declare(f"{name}-callers", _callers())
        self.resources = InferenceGatewayResources(proxies, gateway, callers)
        self.finish({"service": f"{SERVICE_NAME}.{PROXY_NAMESPACE}", "port": PORT})

    def _declare(
        self, logical_name: str, spec: CustomSpec, depends_on: list[pulumi.Resource] | None = None
    ) -> k8s.apiextensions.CustomResource:
        return custom_resource(
            logical_name,
            spec,
            name=GATEWAY_NAME,
            namespace=NAMESPACE_INFERENCE,
            labels=standard_labels("gateway", instance=GATEWAY_NAME, tier="inference"),
            opts=self.child(depends_on=depends_on),
        )


def _gateway() -> kinds.GatewaySpec:
    return kinds.GatewaySpec(
        gateway_class_name=GATEWAY_CLASS,
        infrastructure=kinds.Infrastructure(parameters_ref=kinds.ParametersRef(name=GATEWAY_NAME)),
        listeners=[kinds.Listener(name=LISTENER_NAME, port=PORT, protocol="HTTP")],
    )


def _proxies(args: InferenceGatewayArgs) -> proxy_kinds.EnvoyProxySpec:
    spread = proxy_kinds.SpreadConstraint(label_selector=proxy_kinds.LabelSelector(match_labels=dict(PROXIES.labels)))
    return proxy_kinds.EnvoyProxySpec(
        provider=proxy_kinds.Provider(
            kubernetes=proxy_kinds.KubernetesProvider(
                envoy_deployment=proxy_kinds.ProxyDeployment(
                    replicas=PROXY_REPLICAS,
                    container=proxy_kinds.ProxyContainer(
                        resources=proxy_kinds.ProxyResources(
                            requests=proxy_kinds.Quantities(cpu="500m", memory="1Gi"),
                            limits=proxy_kinds.Quantities(cpu="2", memory="1Gi"),
                        )
                    ),
                    pod=proxy_kinds.ProxyPod(
                        node_selector={POOL_LABEL: args.platform.stack.business.pool},
                        priority_class_name=PRIORITY_ONLINE,
                        topology_spread_constraints=[spread],
                    ),
                ),
                envoy_service=proxy_kinds.ProxyService(name=SERVICE_NAME),
                envoy_pdb=proxy_kinds.ProxyDisruption(),
            )
        ),
        shutdown=proxy_kinds.Shutdown(drain_timeout=f"{args.longest_request_seconds}s", min_drain_duration="10s"),
        telemetry=proxy_kinds.Telemetry(
            access_log=proxy_kinds.AccessLog(
                settings=[
                    proxy_kinds.LogSetting(
                        format=proxy_kinds.LogFormat(fields_=ACCESS_LOG), sinks=[proxy_kinds.LogSink()]
                    )
                ]
            )
        ),
    )


def _callers() -> proxy_kinds.ClientTrafficPolicySpec:
    return proxy_kinds.ClientTrafficPolicySpec(
        target_refs=[kinds.TargetRef(kind="Gateway", name=GATEWAY_NAME)],
        # A request can only be tried again while all of it is held: long prompts are larger than Envoy's 32 KiB.
        connection=proxy_kinds.ClientConnection(buffer_limit="1Mi"),
        timeout=proxy_kinds.ClientTimeout(
            http=proxy_kinds.ClientHttpTimeout(request_received_timeout="60s", idle_timeout="300s")
        ),
    )

"""The internal gateway through which every request reaches a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.custom import CustomSpec, custom_resource
from components.gateways import kinds as shared
from components.gateways.proxies import EnvoyProxySpec, ProxyService, envoy_proxies
from components.inference import kinds
from components.inference.routes import GATEWAY_NAME, LISTENER_NAME, PROXY_REPLICAS
from components.network import Peer
from lantau.endpoints import GATEWAY_CLASS, INFERENCE
from lantau.labels import NAMESPACE_INFERENCE, PRIORITY_ONLINE, standard_labels
from lantau.platform import Platform
from lantau.release.engine_args import request_timeout_seconds

PORT: Final = INFERENCE.ports["http"]
PROXIES: Final = Peer(INFERENCE.namespace, INFERENCE.pod_labels)
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
    return f"http://{INFERENCE.host}:{PORT}/{model}/v1"


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
        self.finish({"service": f"{INFERENCE.service}.{INFERENCE.namespace}", "port": PORT})

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
        infrastructure=shared.Infrastructure(parameters_ref=shared.ParametersRef(name=GATEWAY_NAME)),
        listeners=[kinds.Listener(name=LISTENER_NAME, port=PORT, protocol="HTTP")],
    )


def _proxies(args: InferenceGatewayArgs) -> EnvoyProxySpec:
    return envoy_proxies(
        GATEWAY_NAME,
        NAMESPACE_INFERENCE,
        replicas=PROXY_REPLICAS,
        pool=args.platform.stack.business.pool,
        priority_class=PRIORITY_ONLINE,
        service=ProxyService(name=INFERENCE.service, type="ClusterIP"),
        drain_seconds=args.longest_request_seconds,
        access_log=ACCESS_LOG,
    )


def _callers() -> kinds.ClientTrafficPolicySpec:
    return kinds.ClientTrafficPolicySpec(
        target_refs=[shared.TargetRef(kind="Gateway", name=GATEWAY_NAME)],
        # A request can only be tried again while all of it is held: long prompts are larger than Envoy's 32 KiB.
        connection=kinds.ClientConnection(buffer_limit="1Mi"),
        timeout=kinds.ClientTimeout(http=kinds.ClientHttpTimeout(request_received_timeout="60s", idle_timeout="300s")),
    )

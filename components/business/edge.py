"""The public gateway: TLS, a key for each client, an allow-list of paths, limits, and a log of every request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.business import kinds, traffic_kinds
from components.custom import CustomSpec, custom_resource
from components.gateways import kinds as shared
from components.gateways.proxies import EnvoyProxySpec, ProxyService, envoy_proxies
from components.provider_sdk import RandomField
from components.secrets import Delivery, DeliveryArgs, ManagedKey, ManagedKeyArgs
from lantau.endpoints import BACKEND, EDGE_GATEWAY, GATEWAY_CLASS
from lantau.labels import NAMESPACE_BUSINESS, PRIORITY_STANDARD, standard_labels
from lantau.platform import Platform
from lantau.release.engine_args import request_timeout_seconds

HTTPS_PORT: Final = 443
LISTENER: Final = "https"
KEY_HEADER: Final = "x-api-key"
CLIENT_HEADER: Final = "x-client-id"
"""Tells the backend who calls. Callers cannot set it: theirs is dropped first."""
KEYS_SECRET: Final = "edge-api-keys"
KEY_PREFIX: Final = "lantau_"
KEY_LENGTH: Final = 48
ALLOWED_PATHS: Final = ("/v1",)
"""Everything else of the backend, its health and its metrics too, cannot be reached from outside."""
HEALTH_PATH: Final = "/healthz"
"""Answered by the proxy itself, without a key, for the load balancer and for probes from outside."""

PROXIES: Final = 2
CONNECTIONS: Final = 4096
"""Connections from callers that one proxy takes."""
PARALLEL_REQUESTS: Final = 1024
"""Requests that one proxy has open towards the backend; streamed answers keep theirs for minutes."""
CLIENTS_IN_EXPRESSION: Final = 20
"""Names of at most 40 characters; an expression of Envoy Gateway has at most 1024."""
LARGEST_REQUEST: Final = "20Mi"
MARGIN_SECONDS: Final = 30
"""Time beyond the longest answer of a model, for the backend's own work."""

ACCESS_LOG: Final = {
    "time": "%START_TIME%",
    "request_id": "%REQ(X-REQUEST-ID)%",
    "client": "%REQ(X-CLIENT-ID)%",
    "method": "%REQ(:METHOD)%",
    "host": "%REQ(:AUTHORITY)%",
    "path": "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%",
    "protocol": "%PROTOCOL%",
    "tls": "%DOWNSTREAM_TLS_VERSION%",
    "status": "%RESPONSE_CODE%",
    "flags": "%RESPONSE_FLAGS%",
    "details": "%RESPONSE_CODE_DETAILS%",
    "bytes_received": "%BYTES_RECEIVED%",
    "bytes_sent": "%BYTES_SENT%",
    "duration_ms": "%DURATION%",
    "first_byte_ms": "%RESPONSE_DURATION%",
    "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
    "route": "%ROUTE_NAME%",
    "backend": "%UPSTREAM_HOST%",
    "backend_failure": "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
    "caller": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
}
"""Fields of the access log. No body, no query, and of the headers neither key nor cookie."""


def answer_seconds(platform: Platform) -> int:
    """Longest time that the edge waits for the backend's whole answer."""
    return request_timeout_seconds(platform.releases.values()) + MARGIN_SECONDS


@dataclass(frozen=True)
class EdgeGatewayArgs:
    """A checked platform."""

    platform: Platform


@dataclass(frozen=True)
class EdgeGatewayResources:
    """What the gateway consists of."""

    keys: ManagedKey
    delivery: Delivery
    proxies: k8s.apiextensions.CustomResource
    gateway: k8s.apiextensions.CustomResource
    callers: k8s.apiextensions.CustomResource
    security: k8s.apiextensions.CustomResource
    traffic: k8s.apiextensions.CustomResource
    route: k8s.apiextensions.CustomResource


class EdgeGateway(Component):
    """Gateway `edge` with two proxies on the business pool.

    The route is declared last: no path leads to the backend before keys, limits and log are in place.
    """

    TOKEN: ClassVar[str] = "lantau:business:EdgeGateway"

    resources: EdgeGatewayResources
    url: str
    """Address for callers."""

    def __init__(self, name: str, args: EdgeGatewayArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        platform = args.platform
        self.url = f"https://{platform.stack.business.host}"
        keys = self._keys(name, platform)
        delivery = self._delivery(name, platform, keys)
        proxies = self._declare(f"{name}-proxies", EDGE_GATEWAY, _proxies(platform))
        gateway = self._declare(f"{name}-gateway", EDGE_GATEWAY, _gateway(platform), [proxies])
        callers = self._declare(f"{name}-callers", EDGE_GATEWAY, _callers(platform))
        security = self._declare(f"{name}-security", EDGE_GATEWAY, _security(platform), [delivery])
        traffic = self._declare(f"{name}-traffic", BACKEND, _traffic(platform))
        route = self._declare(f"{name}-route", BACKEND, _route(platform), [gateway, callers, security, traffic])
        self.resources = EdgeGatewayResources(keys, delivery, proxies, gateway, callers, security, traffic, route)
        self.finish({"url": self.url, "clients": list(platform.stack.clients_let_in)})

    def _keys(self, name: str, platform: Platform) -> ManagedKey:
        stack = platform.stack
        # A new epoch leaves these alone: it would lock every client out at once. A client gets a new key by a second
        # name, and the first name goes once it has moved.
        fields = {
            client: RandomField(length=KEY_LENGTH, prefix=KEY_PREFIX, rotate=False) for client in stack.business.clients
        }
        return ManagedKey(
            f"{name}-keys",
            ManagedKeyArgs(
                stack_name=platform.name,
                store=stack.secrets,
                protect=stack.protect_data,
                tier="business",
                key="api-keys",
                description="API keys of the edge gateway's clients, by client",
                fields=fields,
            ),
            self.child(),
        )

    def _delivery(self, name: str, platform: Platform, keys: ManagedKey) -> Delivery:
        # Names of clients may hold dashes, and variables of templates may not.
        # Whom the roll-out has not reached keeps a key in the store, and the gateway does not know it.
        variables = {client: f"client_{client.replace('-', '_')}" for client in platform.stack.clients_let_in}
        return Delivery(
            f"{name}-keys",
            DeliveryArgs(
                namespace=NAMESPACE_BUSINESS,
                secret_name=KEYS_SECRET,
                files={client: f"{{{{ .{variable} }}}}" for client, variable in variables.items()},
                values={variable: keys.field(client) for client, variable in variables.items()},
            ),
            self.child(depends_on=[keys]),
        )

    def _declare(
        self, logical_name: str, name: str, spec: CustomSpec, depends_on: list[pulumi.Resource] | None = None
    ) -> k8s.apiextensions.CustomResource:
        return custom_resource(
            logical_name,
            spec,
            name=name,
            namespace=NAMESPACE_BUSINESS,
            labels=standard_labels("gateway", instance=EDGE_GATEWAY, tier="business"),
            opts=self.child(depends_on=depends_on),
        )


def _gateway(platform: Platform) -> kinds.GatewaySpec:
    business = platform.stack.business
    listener = kinds.TlsListener(
        name=LISTENER,
        port=HTTPS_PORT,
        hostname=business.host,
        tls=kinds.ListenerTls(certificate_refs=[kinds.SecretRef(name=business.tls_secret)]),
    )
    return kinds.GatewaySpec(
        gateway_class_name=GATEWAY_CLASS,
        infrastructure=shared.Infrastructure(parameters_ref=shared.ParametersRef(name=EDGE_GATEWAY)),
        listeners=[listener],
    )


def _proxies(platform: Platform) -> EnvoyProxySpec:
    return envoy_proxies(
        EDGE_GATEWAY,
        NAMESPACE_BUSINESS,
        replicas=PROXIES,
        pool=platform.stack.business.pool,
        priority_class=PRIORITY_STANDARD,
        service=ProxyService(type="LoadBalancer", external_traffic_policy="Local"),
        drain_seconds=answer_seconds(platform),
        access_log=ACCESS_LOG,
    )


def _callers(platform: Platform) -> traffic_kinds.ClientTrafficPolicySpec:
    answer_headers = {
        "strict-transport-security": "max-age=31536000",
        "x-content-type-options": "nosniff",
        # What a client quotes when it complains; the access logs of both gateways are searched by it.
        "x-request-id": "%REQ(X-REQUEST-ID)%",
    }
    return traffic_kinds.ClientTrafficPolicySpec(
        target_refs=[shared.TargetRef(kind="Gateway", name=EDGE_GATEWAY)],
        headers=traffic_kinds.HeaderSettings(
            early_request_headers=traffic_kinds.RequestHeaders(remove=[CLIENT_HEADER]),
            late_response_headers=traffic_kinds.ResponseHeaders(
                set_=[traffic_kinds.HeaderValue(name=name, value=value) for name, value in answer_headers.items()]
            ),
        ),
        connection=traffic_kinds.ClientConnection(connection_limit=traffic_kinds.ConnectionLimit(value=CONNECTIONS)),
        timeout=traffic_kinds.ClientTimeout(
            http=traffic_kinds.ClientHttpTimeout(
                request_headers_received_timeout="10s",
                request_received_timeout="60s",
                idle_timeout="300s",
                # A queued request is silent until its first token.
                stream_idle_timeout=f"{answer_seconds(platform)}s",
            )
        ),
        health_check=traffic_kinds.ListenerHealth(path=HEALTH_PATH),
    )


def _security(platform: Platform) -> kinds.SecurityPolicySpec:
    # Of the Gateway, not of one route: a route that is added later is closed from its first moment.
    return kinds.SecurityPolicySpec(
        target_refs=[shared.TargetRef(kind="Gateway", name=EDGE_GATEWAY)],
        api_key_auth=kinds.ApiKeyAuth(
            credential_refs=[kinds.SecretRef(name=KEYS_SECRET)],
            extract_from=[kinds.KeyHeaders(headers=[KEY_HEADER])],
            forward_client_id_header=CLIENT_HEADER,
        ),
        authorization=kinds.Authorization(
            rules=[
                kinds.AuthorizationRule(
                    name="clients-of-the-stack",
                    principal=kinds.Principal(
                        headers=[kinds.HeaderPrincipal(name=CLIENT_HEADER, values=list(platform.stack.clients_let_in))]
                    ),
                )
            ]
        ),
    )


def _traffic(platform: Platform) -> traffic_kinds.BackendTrafficPolicySpec:
    return traffic_kinds.BackendTrafficPolicySpec(
        target_refs=[shared.TargetRef(kind="HTTPRoute", name=BACKEND)],
        rate_limit=traffic_kinds.RateLimit(local=traffic_kinds.LocalRateLimit(rules=list(_limits(platform)))),
        request_buffer=traffic_kinds.RequestBuffer(limit=LARGEST_REQUEST),
        circuit_breaker=traffic_kinds.CircuitBreaker(
            max_connections=PARALLEL_REQUESTS,
            max_parallel_requests=PARALLEL_REQUESTS,
            max_pending_requests=PARALLEL_REQUESTS,
        ),
        retry=traffic_kinds.Retry(
            num_retries=2, retry_on=traffic_kinds.RetryOn(triggers=["connect-failure", "refused-stream"])
        ),
        timeout=traffic_kinds.BackendTimeout(tcp=shared.TcpTimeout(connect_timeout="5s")),
    )


def _limits(platform: Platform) -> Iterator[traffic_kinds.LimitRule]:
    """One limit for all clients; where a roll-out gives the public a share, rules that name whom they are for."""
    stack = platform.stack
    by_limit: dict[int, list[str]] = {}
    for client in stack.clients_let_in:
        by_limit.setdefault(stack.requests_per_second(client), []).append(client)
    each = traffic_kinds.HeaderMatch(name=CLIENT_HEADER)
    for requests, clients in sorted(by_limit.items()):
        for start in range(0, len(clients), CLIENTS_IN_EXPRESSION):
            names = "|".join(clients[start : start + CLIENTS_IN_EXPRESSION])
            named = traffic_kinds.HeaderMatch(type="RegularExpression", name=CLIENT_HEADER, value=f"^({names})$")
            yield traffic_kinds.LimitRule(
                client_selectors=[
                    traffic_kinds.ClientSelector(headers=[each] if len(by_limit) == 1 else [each, named])
                ],
                limit=shared.Limit(requests=requests),
            )
            if len(by_limit) == 1:
                return


def _route(platform: Platform) -> kinds.HttpRouteSpec:
    business = platform.stack.business
    return kinds.HttpRouteSpec(
        parent_refs=[shared.ParentRef(name=EDGE_GATEWAY, section_name=LISTENER)],
        hostnames=[business.host],
        rules=[
            kinds.RouteRule(
                name="api",
                matches=[kinds.RouteMatch(path=kinds.PathMatch(value=path)) for path in ALLOWED_PATHS],
                backend_refs=[shared.BackendRef(name=BACKEND, port=business.backend.port)],
                timeouts=shared.RouteTimeouts(request=f"{answer_seconds(platform)}s"),
            )
        ],
    )

"""How requests reach the releases of a model: pure functions from the model's configuration to route and policy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from components.gateways import kinds as shared
from components.inference import kinds
from lantau.endpoints import INFERENCE_GATEWAY
from lantau.release import Release
from lantau.release.engine_args import KEEP_ALIVE_SECONDS, Route

PROXY_REPLICAS: Final = 2
"""Proxies of the inference gateway. Each of them counts limits by itself."""
GATEWAY_NAME: Final = INFERENCE_GATEWAY
LISTENER_NAME: Final = "http"
SERVICE_PORT: Final = 8000
"""Port of every release's Service, whatever its engine listens on."""
WAITING_PER_RUNNING: Final = 1
"""Requests that may wait in an engine for each one that runs; beyond that a caller hears 503 at once and can go on."""
RETRY_PERCENT: Final = 20
"""Share of the running requests that may be retries: a broken pod is gone round, an overload is not made worse."""
IDLE_MARGIN_SECONDS: Final = 15
"""The gateway drops an idle connection this much before the engine does, or requests would meet a closing one."""


def workload_name(model: str, release: str) -> str:
    """Kubernetes name of what runs a release of a model: Deployment, Service, account and disruption budget."""
    return f"{model}-{release}"


def route(
    model: str,
    routes: Iterable[Route],
    *,
    weights: Mapping[str, int],
    timeout_seconds: int,
) -> kinds.HttpRouteSpec:
    """The HTTPRoute of a model: its engine's routes below `/<model>`, each split over the releases by `weights`.

    Only these whole paths match, so that everything else an engine listens to stays unreachable.
    """
    if sum(weights.values()) != 100:
        raise ValueError(f"{model}: weights of the releases sum to {sum(weights.values())}, not to 100: {weights}")
    backends = [
        shared.BackendRef(name=workload_name(model, release), port=SERVICE_PORT, weight=weight)
        for release, weight in weights.items()
    ]
    return kinds.HttpRouteSpec(
        parent_refs=[shared.ParentRef(name=GATEWAY_NAME, section_name=LISTENER_NAME)],
        rules=[
            kinds.RouteRule(
                name=each.name,
                matches=[kinds.RouteMatch(path=kinds.PathMatch(value=f"/{model}{each.path}"), method=each.method)],
                filters=[
                    kinds.RouteFilter(url_rewrite=kinds.UrlRewrite(path=kinds.PathRewrite(replace_full_path=each.path)))
                ],
                backend_refs=backends,
                timeouts=shared.RouteTimeouts(request=f"{timeout_seconds}s"),
            )
            for each in routes
        ],
    )


def traffic_policy(model: str, stable: Release, *, replicas: int) -> kinds.BackendTrafficPolicySpec:
    """Limits, retries and bounds of a model's route, from its stable release and its number of pods.

    The rate limit is split over the proxies, each of which counts by itself and for each of the model's paths.
    """
    capacity = replicas * stable.requests_at_once * (1 + WAITING_PER_RUNNING)
    return kinds.BackendTrafficPolicySpec(
        target_refs=[shared.TargetRef(kind="HTTPRoute", name=model)],
        rate_limit=kinds.RateLimit(
            local=kinds.LocalRateLimit(
                rules=[
                    kinds.LimitRule(
                        limit=shared.Limit(requests=math.ceil(stable.limits.requests_per_second / PROXY_REPLICAS))
                    )
                ]
            )
        ),
        circuit_breaker=kinds.CircuitBreaker(
            # Engines speak HTTP/1.1: each running request holds a connection of its own.
            max_connections=capacity,
            max_parallel_requests=capacity,
            max_pending_requests=capacity,
            retry_budget=kinds.RetryBudget(
                percent=kinds.Percent(numerator=RETRY_PERCENT), min_retry_concurrency=PROXY_REPLICAS
            ),
        ),
        retry=kinds.Retry(
            num_retries=2,
            per_retry=kinds.PerRetry(back_off=kinds.BackOff(base_interval="50ms", max_interval="500ms")),
            # Nothing is tried again once an answer has begun. 503 is what an engine says that drains or is full.
            retry_on=kinds.RetryOn(
                triggers=["connect-failure", "refused-stream", "reset-before-request", "retriable-status-codes"],
                http_status_codes=[503],
            ),
        ),
        timeout=kinds.BackendTimeout(
            tcp=shared.TcpTimeout(connect_timeout="2s"),
            http=kinds.HttpTimeout(connection_idle_timeout=f"{KEEP_ALIVE_SECONDS - IDLE_MARGIN_SECONDS}s"),
        ),
        health_check=kinds.HealthCheck(
            # A pod whose engine died answers 500 sooner than any other answers at all, and would draw every request.
            passive=kinds.PassiveHealthCheck(
                base_ejection_time="30s",
                interval="2s",
                consecutive_5xx_errors=5,
                consecutive_local_origin_failures=3,
                max_ejection_percent=50,
                split_external_local_origin_errors=True,
            )
        ),
    )

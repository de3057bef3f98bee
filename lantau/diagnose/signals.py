"""What is read from Prometheus: one expression a signal, with the unit of its values.

Names of the engine's metrics are those of the catalogue, which also lists the ones that vLLM removed; the others are
those that the DCGM exporter, kube-state-metrics, Envoy and the blackbox exporter have today.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lantau.catalog.engines import engines
from lantau.labels import NAMESPACE_INFERENCE

PATH_JOB: Final = "lantau-path"
"""Job of the probes that look at the line from the users' cities."""
STEP: Final = "30s"
"""Resolution of sub-queries, that of a usual scrape."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One figure for each group, such as a model, a pod or a city."""

    name: str
    expression: str
    """PromQL; `$window` stands for the time that is looked at."""
    by: str
    """Label whose value names the group; empty for one figure in all."""
    unit: str
    source: str
    """Who exports it, for the message when it is missing."""

    def query(self, window: str) -> str:
        """The expression for a window such as `15m`."""
        return self.expression.replace("$window", window)


_SERIES: Final = engines()["vllm"].series


def _quantile(tells: str) -> str:
    return f"histogram_quantile(0.95, sum by (model_name, le) (rate({_SERIES[tells]}_bucket[$window])))"


def _level(tells: str) -> str:
    return f"avg_over_time(sum by (model_name) ({_SERIES[tells]})[$window:{STEP}])"


_NAMESPACE: Final = f'namespace="{NAMESPACE_INFERENCE}"'
_ENGINE: Final = "the engine's /metrics"
_CARDS: Final = "the DCGM exporter"
_PROBES: Final = f"a blackbox exporter, job {PATH_JOB}, with the label city"
_SIGNALS: Final = (
    Signal(
        "cache_used",
        f"quantile_over_time(0.95, max by (model_name) ({_SERIES['cache_used']})[$window:{STEP}])",
        "model_name",
        "share",
        _ENGINE,
    ),
    Signal(
        "preemptions",
        f"60 * sum by (model_name) (rate({_SERIES['preemptions']}[$window]))",
        "model_name",
        "a minute",
        _ENGINE,
    ),
    Signal("waiting", _level("waiting"), "model_name", "requests", _ENGINE),
    Signal("running", _level("running"), "model_name", "requests", _ENGINE),
    Signal(
        "finished",
        f"sum by (model_name) (rate({_SERIES['finished']}[$window]))",
        "model_name",
        "requests/s",
        _ENGINE,
    ),
    Signal("first_token", _quantile("first_token"), "model_name", "s, P95", _ENGINE),
    Signal("queue_time", _quantile("queue_time"), "model_name", "s, P95", _ENGINE),
    Signal("token_gap", _quantile("token_gap"), "model_name", "s, P95", _ENGINE),
    Signal("answer_time", _quantile("answer_time"), "model_name", "s, P95", _ENGINE),
    Signal("prompt_tokens", _quantile("prompt_tokens"), "model_name", "tokens, P95", _ENGINE),
    Signal("answer_tokens", _quantile("answer_tokens"), "model_name", "tokens, P95", _ENGINE),
    Signal(
        "card_busy",
        f"avg by (pod) (avg_over_time(DCGM_FI_DEV_GPU_UTIL{{{_NAMESPACE}}}[$window])) / 100",
        "pod",
        "share",
        _CARDS,
    ),
    Signal(
        "card_faults",
        f"max by (pod) (max_over_time(DCGM_FI_DEV_XID_ERRORS{{{_NAMESPACE}}}[$window]))",
        "pod",
        "last XID",
        _CARDS,
    ),
    Signal(
        "restarts",
        f"sum by (pod) (increase(kube_pod_container_status_restarts_total{{{_NAMESPACE}}}[$window]))",
        "pod",
        "restarts",
        "kube-state-metrics",
    ),
    Signal(
        "edge_time",
        # The edge waits for everything behind it, so it is the slowest of the gateways.
        "max(histogram_quantile(0.95, sum by (envoy_http_conn_manager_prefix, le) "
        "(rate(envoy_http_downstream_rq_time_bucket[$window])))) / 1000",
        "",
        "s, P95",
        "the gateways' /stats/prometheus",
    ),
    Signal(
        "round_trip",
        f"max by (city) (quantile_over_time(0.95, "
        f'probe_icmp_duration_seconds{{job="{PATH_JOB}",phase="rtt"}}[$window]))',
        "city",
        "s",
        _PROBES,
    ),
    Signal(
        "loss",
        f'1 - avg by (city) (avg_over_time(probe_success{{job="{PATH_JOB}"}}[$window]))',
        "city",
        "share",
        _PROBES,
    ),
)
SIGNALS: Final[Mapping[str, Signal]] = MappingProxyType({signal.name: signal for signal in _SIGNALS})
"""Every signal by its name."""

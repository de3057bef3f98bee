"""Samples of a platform over twenty minutes, as its exporters would have written them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

STEP: Final = 30
LENGTH: Final = 20 * 60
# Blocks are written for whole two-hour ranges; three hours ago nothing is in the head block any more.
START: Final = int(time.time()) // STEP * STEP - 3 * 3600
END: Final = datetime.fromtimestamp(START + LENGTH, UTC)
BOUNDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 1000.0, 4000.0, 16000.0)


class History:
    """Collects series and renders them as OpenMetrics, all samples of a metric together."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._series: dict[str, list[str]] = defaultdict(list)

    def gauge(self, name: str, value: float | Callable[[int], float], **labels: str) -> None:
        """A level, constant or by the number of the sample."""
        self._add(name, "gauge", name, value if callable(value) else lambda _: value, labels)

    def counter(self, name: str, per_second: float, **labels: str) -> None:
        """A counter that grows evenly; `name` ends with `_total`."""
        self._add(name.removesuffix("_total"), "counter", name, lambda step: per_second * step * STEP, labels)

    def histogram(self, name: str, of: float, labels: Mapping[str, str], *, per_second: float = 2.0) -> None:
        """Observations that all have the value `of`."""

        def grows(bound: float) -> Callable[[int], float]:
            return lambda step: per_second * step * STEP if of <= bound else 0.0

        for bound in (*BOUNDS, float("inf")):
            le = "+Inf" if bound == float("inf") else str(bound)
            self._add(name, "histogram", f"{name}_bucket", grows(bound), {**labels, "le": le})

    def _add(self, family: str, kind: str, name: str, value: Callable[[int], float], labels: Mapping[str, str]) -> None:
        self._kinds[family] = kind
        inside = ",".join(f'{key}="{content}"' for key, content in labels.items())
        self._series[family] += [
            f"{name}{{{inside}}} {value(step)} {START + step * STEP}" for step in range(LENGTH // STEP + 1)
        ]

    def text(self) -> str:
        """The whole history."""
        lines: list[str] = []
        for family, kind in self._kinds.items():
            lines += [f"# TYPE {family} {kind}", *self._series[family]]
        return "\n".join([*lines, "# EOF", ""])


def engine(
    history: History,
    model: str,
    *,
    cache: float = 0.4,
    waiting: float = 0.0,
    running: float = 6.0,
    preempted: float = 0.0,
    first_token: float = 0.4,
    gap: float = 0.04,
    answer: float = 8.0,
    busy: float = 70.0,
    queue: float = 0.04,
) -> None:
    """What an engine of one pod and its card report."""
    labels = {"model_name": model, "engine": "0"}
    history.gauge("vllm:kv_cache_usage_perc", cache, **labels)
    history.gauge("vllm:num_requests_waiting", waiting, **labels)
    history.gauge("vllm:num_requests_running", running, **labels)
    history.counter("vllm:num_preemptions_total", preempted / 60, **labels)
    history.counter("vllm:request_success_total", 2.0, finished_reason="stop", **labels)
    for name, value in (
        ("time_to_first_token_seconds", first_token),
        ("inter_token_latency_seconds", gap),
        ("e2e_request_latency_seconds", answer),
        ("request_queue_time_seconds", queue),
        ("request_prompt_tokens", 900.0),
        ("request_generation_tokens", 300.0),
    ):
        history.histogram(f"vllm:{name}", value, labels)
    pod = f"{model}-qwen3-8b-r2-5d8f-x7k2p"
    history.gauge("DCGM_FI_DEV_GPU_UTIL", busy, namespace="lantau-inference", pod=pod, gpu="0")
    history.gauge("DCGM_FI_DEV_XID_ERRORS", 0.0, namespace="lantau-inference", pod=pod, gpu="0")
    history.counter("kube_pod_container_status_restarts_total", 0.0, namespace="lantau-inference", pod=pod)

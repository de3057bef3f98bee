"""From a release to what its engine is started with: flags, environment, files, probes and time limits.

The pod builder knows a `Launch` and no engine by name: another engine is another function in `_ENGINES`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ruamel.yaml import YAML

from lantau.catalog import Card
from lantau.catalog.engines import engines
from lantau.release.model import GRACE_MARGIN_SECONDS, Release

ConfigValue = bool | int | float | str | list[str] | dict[str, str]

WEIGHTS_PATH: Final = "/models/weights"
"""Where the weights are mounted, read-only."""
CONFIG_FOLDER: Final = "/etc/lantau"
ENGINE_FILE: Final = "engine.yaml"
RELEASE_FILE: Final = "release.yaml"
CACHE_PATH: Final = "/cache"
"""Home of the engine's process and of everything that it compiles."""
CACHE_GIB: Final = 20
SCRATCH_GIB: Final = 4

QUEUE_SECONDS: Final = 60
"""Time that a request may wait for its place in a batch and for its first token."""
KEEP_ALIVE_SECONDS: Final = 75
"""Time that an idle connection is kept by the engine. Its own default of 5 s closes connections under the gateway."""

STARTUP_PERIOD_SECONDS: Final = 10
LEAST_STARTUP_SECONDS: Final = 600
ENGINE_START_SECONDS: Final = 300
"""Time for start, profiling, compilation and CUDA graphs once the weights are loaded."""
DISK_GIB_PER_SECOND: Final = 0.5
"""Rate at which weights are read from a node's disk; a SATA drive does as much."""
NETWORK_GIB_PER_SECOND: Final = 0.1
"""Rate at which a node pulls an image it does not hold yet; 1 Gbit/s."""
ENGINE_IMAGE_GIB: Final = 12


@dataclass(frozen=True)
class Route:
    """One route of an engine that callers may use; every other route of it stays unreachable."""

    name: str
    path: str
    method: Literal["GET", "POST"]


@dataclass(frozen=True)
class Launch:
    """All that a pod needs in order to run a release's engine."""

    command: tuple[str, ...]
    config: Mapping[str, ConfigValue]
    """Content of the engine's own configuration file."""
    environment: Mapping[str, str]
    port: int
    health_path: str
    """Answers 200 once the weights are loaded and the engine works."""
    routes: tuple[Route, ...]
    startup_seconds: int
    """Longest time from the container's start to the first healthy answer."""
    pull_seconds: int
    """Longest time to pull engine and weights to a node that holds neither."""

    @property
    def startup_failures(self) -> int:
        """Failures of the startup probe that are waited for, at one each `STARTUP_PERIOD_SECONDS`."""
        return math.ceil(self.startup_seconds / STARTUP_PERIOD_SECONDS)

    @property
    def progress_seconds(self) -> int:
        """Time in which one more pod must become ready; after it the roll-out has failed."""
        return self.pull_seconds + self.startup_seconds + GRACE_MARGIN_SECONDS


def launch(release: Release, *, served_name: str, cards: Collection[Card]) -> Launch:
    """How `release` is started on any of `cards`.

    `served_name` is the model's name as callers write it: it stays the same from release to release.
    """
    return _ENGINES[release.engine.kind](release, served_name, cards)


def request_timeout_seconds(releases: Iterable[Release]) -> int:
    """Time after which the gateway gives a request up: never before the longest answer of any release is complete."""
    return max(release.limits.longest_answer_seconds for release in releases) + QUEUE_SECONDS


def rollout_timeout_seconds(release: Release, started: Launch, replicas: int) -> int:
    """Bound of one roll-out in which the pods are replaced one after another."""
    return (started.progress_seconds + release.grace_seconds) * max(replicas, 1)


def release_files(release: Release, started: Launch) -> dict[str, str]:
    """Files of a release's ConfigMap: what the engine reads, and the release itself for people and auditors."""
    return {
        ENGINE_FILE: _yaml(dict(sorted(started.config.items()))),
        RELEASE_FILE: _yaml(release.model_dump(mode="json", exclude_none=True)),
    }


_VLLM_ROUTES = (
    Route("chat-completions", "/v1/chat/completions", "POST"),
    Route("completions", "/v1/completions", "POST"),
    Route("embeddings", "/v1/embeddings", "POST"),
    Route("transcriptions", "/v1/audio/transcriptions", "POST"),
    Route("models", "/v1/models", "GET"),
)


def _vllm(release: Release, served_name: str, cards: Collection[Card]) -> Launch:
    facts = engines()["vllm"]
    parameters = release.flags
    # Several cards without P2P hang in NCCL and in vLLM's own all-reduce unless both are told.
    without_p2p = release.gpus > 1 and not all(card.p2p for card in cards)
    config: dict[str, ConfigValue] = {
        "host": "0.0.0.0",  # noqa: S104 - a pod's own address; the NetworkPolicy decides who reaches it
        "port": facts.port,
        "served-model-name": [served_name],
        "tensor-parallel-size": parameters.tensor_parallel_size,
        "max-model-len": parameters.max_model_len,
        "gpu-memory-utilization": parameters.gpu_memory_utilization,
        "max-num-seqs": parameters.max_num_seqs,
        "max-num-batched-tokens": parameters.max_num_batched_tokens,
        # `false` in this file is dropped without a word by some versions; the negated flag is always read.
        ("enable-prefix-caching" if parameters.prefix_caching else "no-enable-prefix-caching"): True,
        "disable-access-log-for-endpoints": "/health,/metrics",
        "enable-request-id-headers": True,
    }
    if without_p2p:
        config["disable-custom-all-reduce"] = True
    if parameters.kv_cache_dtype:
        config["kv-cache-dtype"] = parameters.kv_cache_dtype
    environment = {
        "DO_NOT_TRACK": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        "HOME": CACHE_PATH,
        "TORCHINDUCTOR_CACHE_DIR": f"{CACHE_PATH}/inductor",
        "TRANSFORMERS_OFFLINE": "1",
        "TRITON_CACHE_DIR": f"{CACHE_PATH}/triton",
        # torch asks for the user's name while it is imported, and the image knows no user of our id.
        "USER": "lantau",
        "VLLM_CACHE_ROOT": f"{CACHE_PATH}/vllm",
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": str(KEEP_ALIVE_SECONDS),
        "VLLM_NO_USAGE_STATS": "1",
        "XDG_CACHE_HOME": f"{CACHE_PATH}/xdg",
        "XDG_CONFIG_HOME": f"{CACHE_PATH}/config",
        **({"NCCL_P2P_DISABLE": "1"} if without_p2p else {}),
    }
    largest_gib = _largest_weights_gib(release, cards)
    return Launch(
        command=(
            "vllm",
            "serve",
            WEIGHTS_PATH,
            "--config",
            f"{CONFIG_FOLDER}/{ENGINE_FILE}",
            "--shutdown-timeout",
            str(release.drain_seconds),
        ),
        config=config,
        environment=dict(sorted(environment.items())),
        port=facts.port,
        health_path=str(facts.health),
        routes=_VLLM_ROUTES,
        startup_seconds=max(
            LEAST_STARTUP_SECONDS, _tens(ENGINE_START_SECONDS + math.ceil(largest_gib / DISK_GIB_PER_SECOND))
        ),
        pull_seconds=_tens(math.ceil((ENGINE_IMAGE_GIB + largest_gib) / NETWORK_GIB_PER_SECOND)),
    )


# Not among them: /free, /interrupt, /upload, /userdata, /object_info and the pages; anyone could stop others' work.
_COMFYUI_ROUTES = (
    Route("prompt", "/prompt", "POST"),
    Route("queue", "/queue", "GET"),
    Route("history", "/history", "GET"),
    Route("view", "/view", "GET"),
)
_COMFYUI_MODELS: Final = ("checkpoints", "clip", "controlnet", "diffusion_models", "loras", "text_encoders", "vae")
"""Folders of the weights' image by the kind of model that they hold."""


def _comfyui(release: Release, served_name: str, cards: Collection[Card]) -> Launch:
    facts = engines()["comfyui"]
    largest_gib = _largest_weights_gib(release, cards)
    environment = {
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "HOME": CACHE_PATH,
        "TRITON_CACHE_DIR": f"{CACHE_PATH}/triton",
        "USER": "lantau",
        "XDG_CACHE_HOME": f"{CACHE_PATH}/xdg",
    }
    return Launch(
        # Relative to the working directory of the image, which is ComfyUI's own.
        command=(
            "python",
            "main.py",
            "--listen",
            "0.0.0.0",  # noqa: S104 - a pod's own address; the NetworkPolicy decides who reaches it
            "--port",
            str(facts.port),
            "--disable-auto-launch",
            "--extra-model-paths-config",
            f"{CONFIG_FOLDER}/{ENGINE_FILE}",
            "--output-directory",
            f"{CACHE_PATH}/output",
            "--temp-directory",
            f"{CACHE_PATH}/temp",
            "--input-directory",
            f"{CACHE_PATH}/input",
            "--user-directory",
            f"{CACHE_PATH}/user",
        ),
        config={served_name: {"base_path": WEIGHTS_PATH, **{kind: kind for kind in _COMFYUI_MODELS}}},
        environment=environment,
        port=facts.port,
        # It has no route of its own for health; this one answers once the server and its card are there.
        health_path=str(facts.health),
        routes=_COMFYUI_ROUTES,
        startup_seconds=LEAST_STARTUP_SECONDS,
        pull_seconds=_tens(math.ceil((ENGINE_IMAGE_GIB + largest_gib) / NETWORK_GIB_PER_SECOND)),
    )


_ENGINES: Final[Mapping[str, Callable[[Release, str, Collection[Card]], Launch]]] = {
    "vllm": _vllm,
    "comfyui": _comfyui,
}


def _largest_weights_gib(release: Release, cards: Collection[Card]) -> float:
    """Weights that could fit at all: a release does not say how large its weights are, its cards do."""
    largest_card = max((card.memory_gib for card in cards), default=0.0)
    if release.workflow is not None:
        return release.workflow.memory_gib
    return release.gpus * largest_card * release.flags.gpu_memory_utilization


def _tens(seconds: int) -> int:
    """Rounded up to whole probe periods."""
    return math.ceil(seconds / STARTUP_PERIOD_SECONDS) * STARTUP_PERIOD_SECONDS


def _yaml(data: Mapping[str, Any]) -> str:
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.width = 4096
    text = io.StringIO()
    writer.dump(dict(data), text)
    return text.getvalue()

"""How fast a model answers: time of a decode step, tokens a second, and the rate at which prompts are read.

A step has to read the weights that its tokens touch and the cache of every sequence once, and to multiply; whichever
takes longer decides, plus a launch and communication time for each layer. The shares of peak that engines reach are
ranges, found on published measurements: 30.9 ms a token for Qwen2.5-72B on two H100 (tt-inference-server#143), Qwen3 on
H20 with SGLang (Qwen documentation), DeepSeek-R1 AWQ on eight H100 (tt-inference-server#356).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lantau.capacity.cache import token_bytes
from lantau.capacity.formats import PLAIN, Format, cache_bytes
from lantau.catalog.architecture import Architecture, Kind
from lantau.catalog.cards import Card


@dataclass(frozen=True, slots=True)
class Range:
    """A figure with its bounds."""

    low: float
    likely: float
    high: float

    def times(self, factor: float) -> Range:
        """The same range in another unit."""
        return Range(self.low * factor, self.likely * factor, self.high * factor)


BANDWIDTH_SHARE: Final = Range(0.30, 0.60, 0.85)
"""Share of the memory bandwidth that decoding reaches; the measurements above span all of it."""
COMPUTE_SHARE: Final = Range(0.40, 0.55, 0.65)
"""Share of the peak rate that large multiplications reach."""
PREFILL_SHARE: Final = Range(0.35, 0.48, 0.60)
EXPERT_PREFILL_SHARE: Final = Range(0.20, 0.28, 0.35)
LAYER_SECONDS: Final = {1: 0.08e-3, 2: 0.11e-3, 4: 0.15e-3, 8: 0.22e-3}
"""Launch and all-reduce a layer by tensor parallelism."""
LAYER_TIMES: Final = Range(0.5, 1.0, 1.25)
"""How many times of it a layer takes: CUDA graphs hide the launches of a dense layer."""
PCIE_GB_S: Final = 12.0
"""Rate between two cards without NVLink or P2P: through the memory of the host, twice over PCIe 4."""


@dataclass(frozen=True, slots=True)
class Speed:
    """What one replica does. Rates in tokens a second."""

    decode: Range
    """All sequences together."""
    per_request: Range
    """One answer."""
    prefill: Range
    """Prompt tokens read when nothing else runs."""
    step_ms: Range
    """Time between two tokens of one answer, ms."""
    batch: int
    context: int
    limit: str
    """What the likely step waits for: memory, arithmetic, or the time a layer takes at least."""


def speed(
    model: Architecture,
    card: Card,
    *,
    tensor: int,
    batch: int,
    context: int,
    form: Format = PLAIN,
    kv_dtype: str | None = None,
    memory_share: float = 1.0,
    compute_share: float = 1.0,
) -> Speed:
    """Speed of one replica on `tensor` cards with `batch` sequences of `context` tokens each.

    `memory_share` and `compute_share` are those of a MIG instance. Bounds span engines and kernels.
    """
    bandwidth = tensor * card.bandwidth_tb_s * 1e12 * memory_share
    rate = tensor * _rate(card, form) * 1e12 * compute_share
    read = _weight_bytes(model, form, batch) + batch * context_bytes(model, context, kv_dtype, tensor=tensor) * tensor
    work = 2.0 * model.active_parameters * batch
    waits = len(model.layers) * _layer_seconds(tensor) + _links(model, card, tensor, batch)

    def step(memory: float, arithmetic: float, layers: float) -> float:
        return max(read / (bandwidth * memory), work / (rate * arithmetic)) + waits * layers

    slow = step(BANDWIDTH_SHARE.low, COMPUTE_SHARE.low, LAYER_TIMES.high)
    likely = step(BANDWIDTH_SHARE.likely, COMPUTE_SHARE.likely, LAYER_TIMES.likely)
    fast = step(BANDWIDTH_SHARE.high, COMPUTE_SHARE.high, LAYER_TIMES.low)
    sparse = any(layer.mlp.experts for layer in model.layers)
    share = EXPERT_PREFILL_SHARE if sparse else PREFILL_SHARE
    per_token = 2.0 * model.active_parameters + _attention_work(model, context)
    parts = {
        "memory": read / (bandwidth * BANDWIDTH_SHARE.likely),
        "arithmetic": work / (rate * COMPUTE_SHARE.likely),
        "layers": waits,
    }
    return Speed(
        decode=Range(batch / slow, batch / likely, batch / fast),
        per_request=Range(1 / slow, 1 / likely, 1 / fast),
        prefill=share.times(rate / per_token),
        step_ms=Range(fast * 1e3, likely * 1e3, slow * 1e3),
        batch=batch,
        context=context,
        limit=max(parts, key=lambda name: parts[name]),
    )


def context_bytes(model: Architecture, context: int, kv_dtype: str | None, *, tensor: int) -> float:
    """Bytes of cache on one rank that one sequence of `context` tokens makes a step read."""
    element = cache_bytes(kv_dtype, 2)
    total = 0.0
    for layer in model.layers:
        attention = layer.attention
        seen = min(context, attention.window) if attention.kind in (Kind.SLIDING, Kind.CHUNKED) else context
        total += seen * token_bytes(attention, tensor=tensor, element=element, latent=True)
    return total


def _rate(card: Card, form: Format) -> float:
    half = card.bf16_tflops or card.fp16_tflops
    if form.compute == "fp8" and card.fp8_tflops and card.compute_capability >= form.native:
        return card.fp8_tflops
    if form.compute == "fp4" and card.fp4_tflops and card.compute_capability >= form.native:
        return card.fp4_tflops
    return half


def _weight_bytes(model: Architecture, form: Format, batch: int) -> float:
    """Bytes of weights that a step of `batch` tokens reads on all ranks; of the experts, those likely to be hit."""
    hidden = model.hidden
    total = model.vocabulary * hidden * 2.0
    for layer in model.layers:
        attention, mlp = layer.attention, layer.mlp
        total += (attention.sharded + attention.kv_projection + attention.replicated) * _bytes(form, "attention")
        total += mlp.dense(hidden) * _bytes(form, "mlp")
        if mlp.experts:
            touched = mlp.experts * (1 - (1 - mlp.active / mlp.experts) ** batch)
            total += touched * mlp.expert(hidden) * _bytes(form, "experts")
    return total


def _bytes(form: Format, part: str) -> float:
    return form.bytes_per_weight if form.bytes_per_weight is not None and part in form.parts else 2.0


def _attention_work(model: Architecture, context: int) -> float:
    total = 0.0
    for layer in model.layers:
        attention = layer.attention
        if attention.kind in (Kind.LINEAR, Kind.NONE):
            continue
        seen = min(context, attention.window) if attention.window else context
        # Two products of every query head with the tokens before it, half of them on average while a prompt is read.
        total += 2.0 * seen * attention.heads * (attention.value_dim or attention.key_dim)
    return total


def _layer_seconds(tensor: int) -> float:
    nearest = min(LAYER_SECONDS, key=lambda size: abs(size - tensor))
    return LAYER_SECONDS[nearest]


def _links(model: Architecture, card: Card, tensor: int, batch: int) -> float:
    """Seconds that two all-reduces a layer take beyond their launch, where cards share PCIe only."""
    if tensor == 1 or card.nvlink_gb_s > 0:
        return 0.0
    exchanged = 2 * len(model.layers) * batch * model.hidden * 2 * 2 * (tensor - 1) / tensor
    return exchanged / (PCIE_GB_S * 1e9)

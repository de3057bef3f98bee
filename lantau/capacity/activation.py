"""Memory that comes and goes while the model runs: the peak an engine measures at start-up, and its CUDA graphs."""

from __future__ import annotations

from dataclasses import dataclass

from lantau.capacity.engines import Engine
from lantau.capacity.request import CardMemory
from lantau.capacity.weights import Stage
from lantau.catalog.architecture import Architecture, Kind, Mlp

GIB = 2**30
PIPELINE_STATES = 2.0
"""Copies more when stages pass hidden states and residuals on."""
LOGIT_BYTES = 4
GRAPHS_BASE_GIB, GRAPHS_PER_LAYER_GIB = 0.35, 0.0175
"""CUDA graphs of all sizes up to 512 sequences, by layers of a stage."""
EXPERT_GRAPHS_GIB = 0.6
"""More when the layers have experts."""
FEWER_GRAPHS = 0.6
"""Share of it on cards with the smaller batch defaults."""
CHUNK = 64
"""Tokens that a linear layer's prefill kernel processes at a time."""


@dataclass(frozen=True, slots=True)
class Step:
    """The largest step that the engine prepares for."""

    sequences: int
    tokens: int


def peak_gib(
    model: Architecture,
    stage: Stage,
    engine: Engine,
    step: Step,
    *,
    tensor: int,
    pipeline: int,
    element: int,
    copies: float,
) -> float:
    """Peak of one rank, GiB. `copies` of the logits are alive in the sampler, which runs on the last stage only."""
    hidden = step.tokens * model.hidden * element
    sampler = step.sequences * model.vocabulary * LOGIT_BYTES * copies if stage.last and model.generates else 0.0
    dense = experts = scratch = 0.0
    for layer, _ in stage.counted:
        mlp = layer.mlp
        if mlp.experts:
            experts = max(experts, _experts(mlp, model.hidden, step.tokens, tensor, element))
        if mlp.intermediate or not mlp.experts:
            dense = max(dense, _dense(mlp, model.hidden, step.tokens, tensor, element))
        if layer.attention.kind is Kind.LINEAR:
            attention = layer.attention
            values = attention.kv_heads / tensor
            scratch = max(
                scratch,
                step.tokens / CHUNK * values * attention.key_dim * attention.value_dim * 2
                + 2 * step.tokens * values * attention.value_dim * 2,
            )
    states = engine.hidden_copies + (PIPELINE_STATES if pipeline > 1 else 0)
    if engine.keeps_moe_workspace:
        peak = max(sampler, dense, scratch) + experts
    else:
        peak = max(sampler, dense, scratch, experts)
    return (peak + states * hidden) / GIB


def encoder_gib(model: Architecture, *, images: int) -> float:
    """Peak of the encoder on `images` of the largest size, with the tokens it hands on, GiB; first stage only."""
    encoder = model.encoder
    if encoder is None or not images:
        return 0.0
    inside = encoder.patches * 3 * (encoder.inner + encoder.width) * 2
    return images * (inside + encoder.tokens * model.hidden * 2) / GIB


def _dense(mlp: Mlp, hidden: int, tokens: int, tensor: int, element: int) -> float:
    return tokens * ((mlp.inputs + 1) * mlp.intermediate / tensor + 3 * hidden) * element


def _experts(mlp: Mlp, hidden: int, tokens: int, tensor: int, element: int) -> float:
    width = mlp.expert_intermediate / tensor
    return tokens * mlp.active * (max(mlp.inputs * width, hidden) + width) * element


def graphs_gib(stage: Stage, card: CardMemory, step: Step, *, eager: bool) -> float:
    """CUDA graphs of one rank, GiB."""
    if eager:
        return 0.0
    sparse = any(layer.mlp.experts for layer, _ in stage.counted)
    full = GRAPHS_BASE_GIB + GRAPHS_PER_LAYER_GIB * stage.layers + (EXPERT_GRAPHS_GIB if sparse else 0.0)
    return full * (1.0 if card.large_batches else FEWER_GRAPHS) * min(1.0, max(step.sequences, 8) / 256)

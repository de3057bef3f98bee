"""Why an engine does not start although the cache would have room: rules of division and of cards, memory beside."""

from __future__ import annotations

from collections.abc import Callable

from lantau.capacity.activation import GIB, LOGIT_BYTES, Step
from lantau.capacity.engines import Engine
from lantau.capacity.formats import Format
from lantau.capacity.rank import Rank
from lantau.capacity.request import CardMemory, Flags
from lantau.catalog.architecture import Architecture, Kind

Refuse = Callable[[str], None]

CONTEXT_GIB = (0.2, 0.5)
"""A CUDA context with its libraries, beside the share that the engine takes: least and most."""
BFLOAT_CAPABILITY = 8.0
FP8_CACHE_CAPABILITY = 8.0


def refusals(
    model: Architecture, card: CardMemory, engine: Engine, flags: Flags, form: Format, length: int
) -> list[str]:
    """Every rule of the engine that the question breaks."""
    found: list[str] = []
    refuse = found.append
    tensor, pipeline = flags.tensor_parallel, flags.pipeline_parallel

    if card.instance and tensor * pipeline > 1:
        refuse("a MIG instance is a device of its own: tensor and pipeline parallelism cannot join several")
    heads = {layer.attention.heads for layer in model.layers if layer.attention.kind is not Kind.LINEAR}
    for count in sorted(heads):
        if count % tensor:
            refuse(f"{count} attention heads cannot be divided by tensor parallelism {tensor}")
    keys = {
        layer.attention.kv_heads for layer in model.layers if layer.attention.kind not in (Kind.LATENT, Kind.LINEAR)
    }
    for count in sorted(keys - {0}):
        if max(count, tensor) % min(count, tensor):
            refuse(f"{count} heads of keys and values and tensor parallelism {tensor}: one must divide the other")
    if pipeline > len(model.layers):
        refuse(f"{len(model.layers)} layers cannot fill {pipeline} pipeline stages")
    _widths(model, form, tensor, flags, refuse)
    if model.max_positions and length > model.max_positions and engine.kind in ("vllm", "sglang", "tgi"):
        refuse(
            f"max_model_len {length:,} exceeds the {model.max_positions:,} positions of the model: "
            f"the engine refuses to start"
        )
    _numbers(card, flags, form, refuse)
    tokens = flags.max_num_batched_tokens
    chunked = engine.chunked if flags.chunked_prefill is None else flags.chunked_prefill
    if tokens and not chunked and tokens < length and engine.kind == "vllm":
        refuse(f"max_num_batched_tokens {tokens:,} is below max_model_len {length:,} and chunked prefill is off")
    return found


def _widths(model: Architecture, form: Format, tensor: int, flags: Flags, refuse: Refuse) -> None:
    seen: set[str] = set()
    for layer in model.layers:
        mlp = layer.mlp
        widths = []
        if mlp.experts and "experts" in form.parts and not flags.expert_parallel:
            widths.append(("an expert", mlp.expert_intermediate))
        if mlp.intermediate and not mlp.experts and "mlp" in form.parts:
            widths.append(("the feed-forward layer", mlp.intermediate))
        for what, width in widths:
            if width % tensor:
                seen.add(f"the width {width} of {what} cannot be divided by tensor parallelism {tensor}")
            elif (
                form.bytes_per_weight is not None
                and form.group > 1
                and (width // tensor) % form.group
                and form.name != "mxfp4"
            ):
                seen.add(
                    f"{form.name} shares scales over {form.group} inputs, and a rank's share of {what} is "
                    f"{width // tensor}: choose a smaller tensor parallelism"
                )
    for reason in sorted(seen):
        refuse(reason)


def _numbers(card: CardMemory, flags: Flags, form: Format, refuse: Refuse) -> None:
    if not card.capability:
        return
    if form.capability > card.capability:
        refuse(f"{form.name} needs compute capability {form.capability}, {card.name} has {card.capability}")
    if flags.dtype == "bfloat16" and card.capability < BFLOAT_CAPABILITY:
        refuse(f"bfloat16 needs compute capability {BFLOAT_CAPABILITY}, {card.name} has {card.capability}: use float16")
    if (flags.kv_dtype or "").startswith("fp8") and card.capability < FP8_CACHE_CAPABILITY:
        refuse(f"a cache of 8 bits needs compute capability {FP8_CACHE_CAPABILITY}, {card.name} has {card.capability}")


def shortage_at_start(model: Architecture, engine: Engine, step: Step, rank: Rank) -> tuple[float, float]:
    """GiB that start-up lacks beside the engine's share: at most, and at least. 0 or less means that there is room."""
    if engine.kind != "vllm":
        return 0.0, 0.0
    beside = rank.total - rank.budget
    if engine.graphs_in_budget:
        return CONTEXT_GIB[0] - beside, CONTEXT_GIB[0] - beside
    logits = 2 * step.sequences * model.vocabulary * LOGIT_BYTES / GIB
    graphs = rank.graphs
    return graphs + CONTEXT_GIB[1] + logits - beside, graphs * 0.4 + CONTEXT_GIB[0] - beside

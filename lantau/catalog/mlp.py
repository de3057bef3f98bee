"""The feed-forward part of a layer, read from a configuration."""

from __future__ import annotations

from typing import Final

from lantau.catalog.architecture import Mlp, UnknownLayoutError
from lantau.catalog.reading import Config, number

_UNGATED: Final = frozenset(
    {
        "opt",
        "phi",
        "falcon",
        "bloom",
        "gpt2",
        "gptj",
        "gpt_neox",
        "starcoder2",
        "bert",
        "roberta",
        "xlm-roberta",
        "whisper",
        "mpt",
        "nemotron",
    }
)


def mlp_of(text: Config, hidden: int, index: int) -> Mlp:
    """The feed-forward part of layer `index`."""
    kind = str(text.get("model_type", "")).removesuffix("_text")
    gated = kind not in _UNGATED
    experts = number(text, "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", default=0)
    width = (
        number(text, "intermediate_size", "ffn_hidden_size", "ffn_dim", "decoder_ffn_dim", "n_inner", default=0)
        or 4 * hidden
    )
    if not experts or not _is_sparse(text, index):
        return Mlp(intermediate=number(text, "intermediate_size_mlp", default=0) or width, gated=gated)
    active = number(text, "num_experts_per_tok", "moe_topk", "num_experts_per_token", "top_k_experts", default=0)
    if not active:
        raise UnknownLayoutError("its configuration has experts but not 'num_experts_per_tok'")
    expert = number(text, "moe_intermediate_size", "expert_intermediate_size", default=0) or width
    shared = (
        number(text, "shared_expert_intermediate_size", default=0)
        or number(text, "n_shared_experts", default=0) * expert
    )
    if kind == "llama4":
        shared = width
    if kind == "gemma4":
        # Gemma 4 runs a dense layer beside the experts.
        shared = width
    return Mlp(intermediate=shared, gated=gated, experts=experts, active=active, expert_intermediate=expert)


def _is_sparse(text: Config, index: int) -> bool:
    if index < number(text, "first_k_dense_replace", default=0):
        return False
    alone = text.get("mlp_only_layers")
    if isinstance(alone, list) and index in alone:
        return False
    listed = text.get("moe_layers")
    if isinstance(listed, list) and listed:
        return index in listed
    step = number(text, "decoder_sparse_step", "interleave_moe_layer_step", default=0) or 1
    return (index + 1) % step == 0

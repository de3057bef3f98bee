"""The feed-forward part of a layer, read from a configuration."""

from __future__ import annotations

from typing import Final

from lantau.catalog.architecture import Mlp, UnknownLayoutError
from lantau.catalog.reading import Config

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
    experts = _int(text, "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
    width = _int(text, "intermediate_size", "ffn_hidden_size", "ffn_dim", "decoder_ffn_dim", "n_inner") or 4 * hidden
    if not experts or not _is_sparse(text, index):
        return Mlp(intermediate=_int(text, "intermediate_size_mlp") or width, gated=gated)
    active = _int(text, "num_experts_per_tok", "moe_topk", "num_experts_per_token", "top_k_experts")
    if not active:
        raise UnknownLayoutError("its configuration has experts but not 'num_experts_per_tok'")
    expert = _int(text, "moe_intermediate_size", "expert_intermediate_size") or width
    shared = _int(text, "shared_expert_intermediate_size") or _int(text, "n_shared_experts") * expert
    if kind == "llama4":
        shared = width
    if kind == "gemma4":
        # Gemma 4 runs a dense layer beside the experts.
        shared = width
    return Mlp(intermediate=shared, gated=gated, experts=experts, active=active, expert_intermediate=expert)


def _is_sparse(text: Config, index: int) -> bool:
    if index < _int(text, "first_k_dense_replace"):
        return False
    alone = text.get("mlp_only_layers")
    if isinstance(alone, list) and index in alone:
        return False
    listed = text.get("moe_layers")
    if isinstance(listed, list) and listed:
        return index in listed
    step = _int(text, "decoder_sparse_step", "interleave_moe_layer_step") or 1
    return (index + 1) % step == 0


def _int(text: Config, *keys: str) -> int:
    for key in keys:
        value = text.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return 0

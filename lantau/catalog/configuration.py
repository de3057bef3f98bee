"""Reads an Architecture out of the keys of a Hugging Face `config.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from lantau.catalog.architecture import Architecture, Attention, Kind, Layer, UnknownLayoutError
from lantau.catalog.encoder import encoder_of
from lantau.catalog.mlp import mlp_of
from lantau.catalog.reading import Config, divisor, number

_BYTES: Final = {"float32": 4, "float16": 2, "bfloat16": 2}
_UNKNOWN_CACHES: Final = (
    "compress_ratios",
    "compress_ratio",
    "mamba_d_ssm",
    "mamba_num_heads",
    "mamba_d_state",
    "ssm_state_size",
    "rwkv_version",
)
"""Keys of layouts whose cache follows no rule that was checked against a running engine."""
_KINDS: Final = {
    "full_attention": Kind.FULL,
    "attention": Kind.FULL,
    "sliding_attention": Kind.SLIDING,
    "chunked_attention": Kind.CHUNKED,
    "linear_attention": Kind.LINEAR,
}
_ENCODERS_ONLY: Final = frozenset({"bert", "roberta", "xlm-roberta", "modernbert", "new", "nomic_bert"})
_BIASED: Final = frozenset(
    {"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "opt", "phi", "bloom", "starcoder2", "qwen"}
)


MOST_LAYERS: Final = 10_000


def read_configuration(config: Config, *, parameters: int | None = None) -> Architecture:
    """The architecture that a `config.json` describes.

    `parameters`: elements of the whole model when they are published, from which those of the encoders follow.
    Raises UnknownLayoutError when something that decides memory is missing, is damaged or has no known rule.
    """
    try:
        return _read(config, parameters)
    except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if isinstance(error, UnknownLayoutError):
            raise
        # A key holds another kind of value than any published model gives it.
        raise UnknownLayoutError("its configuration cannot be understood: a key holds another kind of value") from None


def _read(config: Config, parameters: int | None) -> Architecture:
    text = text_of(config)
    for key in _UNKNOWN_CACHES:
        if text.get(key):
            raise UnknownLayoutError(
                f"its configuration has {key!r}: no rule for that cache was checked against a running engine"
            )
    hidden = number(text, "hidden_size", "n_embd", "d_model")
    heads = number(text, "num_attention_heads", "n_head", "decoder_attention_heads")
    alike: dict[Layer, Layer] = {}
    made = (_layer(text, hidden, heads, index, kind) for index, kind in enumerate(_kinds(text)))
    # Layers that are alike are one object, so that sums can count them instead of visiting each.
    layers = tuple(alike.setdefault(layer, layer) for layer in made)
    found = Architecture(
        kind=str(config.get("model_type", "")),
        hidden=hidden,
        vocabulary=number(text, "vocab_size", "padded_vocab_size"),
        layers=layers,
        tied=bool(text.get("tie_word_embeddings", config.get("tie_word_embeddings", _tied_by_default(text)))),
        max_positions=_positions(text),
        rotary_dim=_rotary(text, hidden, heads),
        bytes_per_element=_BYTES.get(str(_either(config, text, "torch_dtype") or _either(config, text, "dtype")), 2),
        quantisation=_quantisation(config, text),
        positions_embedding=_learned_positions(text, hidden),
        generates=_generates(config),
    )
    encoder = encoder_of(config)
    if encoder and parameters:
        encoder = replace(encoder, parameters=max(0, parameters - found.text_parameters))
    return replace(found, encoder=encoder)


def text_of(config: Config) -> Config:
    """The part that describes the language model."""
    for key in ("text_config", "language_config", "llm_config"):
        part = config.get(key)
        if isinstance(part, Mapping):
            return part
    return config


def _either(config: Config, text: Config, key: str) -> Any:
    return text.get(key) or config.get(key)


def _kinds(text: Config) -> list[Kind]:
    count = number(text, "num_hidden_layers", "n_layer", "num_layers", "decoder_layers", most=MOST_LAYERS)
    named = text.get("layer_types")
    if isinstance(named, list) and named:
        unknown = sorted({str(name) for name in named} - set(_KINDS))
        if unknown:
            raise UnknownLayoutError(f"its layer_types name {', '.join(unknown)}, whose cache has no known rule")
        return [_KINDS[str(name)] for name in named][:count]
    interval = text.get("full_attention_interval")
    if isinstance(interval, int) and interval > 0 and "linear_num_value_heads" in text:
        return [Kind.FULL if (index + 1) % interval == 0 else Kind.LINEAR for index in range(count)]
    if "kv_lora_rank" in text and text.get("kv_lora_rank"):
        return [Kind.LATENT] * count
    if "attention_chunk_size" in text and text.get("attention_chunk_size"):
        return [Kind.FULL if (index + 1) % 4 == 0 else Kind.CHUNKED for index in range(count)]
    if not text.get("sliding_window") or text.get("use_sliding_window") is False:
        return [Kind.FULL] * count
    pattern = text.get("sliding_window_pattern") or {"gemma2": 2}.get(str(text.get("model_type")))
    if isinstance(pattern, int) and pattern > 1:
        return [Kind.FULL if (index + 1) % pattern == 0 else Kind.SLIDING for index in range(count)]
    return [Kind.SLIDING] * count


def _layer(text: Config, hidden: int, heads: int, index: int, kind: Kind) -> Layer:
    if kind is Kind.LATENT:
        attention = _latent(text, hidden, heads)
    elif kind is Kind.LINEAR:
        attention = _linear(text, hidden)
    else:
        attention = _grouped(text, hidden, heads, kind)
    mlp = mlp_of(text, hidden, index)
    norms = 4 if str(text.get("model_type", "")).startswith(("gemma2", "gemma3", "gemma4")) else 2
    small = norms * hidden + mlp.experts * hidden
    if (
        text.get("attention_bias")
        or text.get("add_qkv_bias")
        or str(text.get("model_type", "")).removesuffix("_text") in _BIASED
    ):
        small += (attention.heads + 2 * attention.kv_heads) * attention.key_dim
    return Layer(attention=attention, mlp=mlp, small=small)


def _grouped(text: Config, hidden: int, heads: int, kind: Kind) -> Attention:
    dim = divisor(text, "head_dim", "kv_channels", default=hidden // heads)
    kv_heads = divisor(text, "num_key_value_heads", "multi_query_group_num", "num_kv_heads", default=heads)
    if (
        text.get("multi_query") is True
        and not text.get("new_decoder_architecture")
        and "multi_query_group_num" not in text
    ):
        kv_heads = 1
    if kind is Kind.FULL and text.get("num_global_key_value_heads"):
        kv_heads, dim = number(text, "num_global_key_value_heads"), number(text, "global_head_dim", default=dim)
    window = number(text, "sliding_window", "attention_chunk_size", default=0) if kind is not Kind.FULL else 0
    return Attention(
        kind=kind,
        heads=heads,
        kv_heads=kv_heads,
        key_dim=dim,
        value_dim=dim,
        window=window,
        # An output gate doubles the query's projection.
        sharded=(3 if text.get("attn_output_gate") else 2) * hidden * heads * dim,
        kv_projection=2 * hidden * kv_heads * dim,
    )


def _latent(text: Config, hidden: int, heads: int) -> Attention:
    rank, rope = number(text, "kv_lora_rank"), number(text, "qk_rope_head_dim")
    nope, value = number(text, "qk_nope_head_dim"), number(text, "v_head_dim")
    query = number(text, "q_lora_rank", default=0)
    up = rank * heads * (nope + value)
    per_head = heads * (nope + rope)
    return Attention(
        kind=Kind.LATENT,
        heads=heads,
        kv_heads=1,
        key_dim=rank + rope,
        index_dim=number(text, "index_head_dim", default=0),
        sharded=(query or hidden) * per_head + up + heads * value * hidden,
        replicated=hidden * query + hidden * (rank + rope) + _indexer(text, hidden, query),
        absorbed=up,
    )


def _indexer(text: Config, hidden: int, query: int) -> int:
    heads, dim = number(text, "index_n_heads", default=0), number(text, "index_head_dim", default=0)
    return query * heads * dim + hidden * dim + hidden * heads


def _linear(text: Config, hidden: int) -> Attention:
    keys, values = number(text, "linear_num_key_heads"), number(text, "linear_num_value_heads")
    key_dim, value_dim = number(text, "linear_key_head_dim"), number(text, "linear_value_head_dim")
    kernel = number(text, "linear_conv_kernel_dim", default=4)
    inner = 2 * keys * key_dim + values * value_dim
    return Attention(
        kind=Kind.LINEAR,
        heads=values,
        kv_heads=values,
        key_dim=key_dim,
        value_dim=value_dim,
        key_heads=keys,
        kernel=kernel,
        sharded=hidden * (inner + values * value_dim)
        + 2 * hidden * values
        + inner * kernel
        + values * value_dim * hidden,
    )


def _positions(text: Config) -> int:
    names = ("max_position_embeddings", "seq_length", "n_positions", "max_target_positions", "model_max_length")
    limit = number(text, *names, default=0)
    scaling = text.get("rope_scaling") or text.get("rope_parameters") or {}
    if isinstance(scaling, Mapping):
        kind = str(scaling.get("rope_type", scaling.get("type", "")))
        factor = scaling.get("factor")
        original = scaling.get("original_max_position_embeddings")
        # Llama 3 and Phi write the stretched length already; the others write the one before stretching.
        if kind in ("linear", "dynamic", "yarn") and isinstance(factor, int | float) and factor > 1:
            base = original if isinstance(original, int) else limit
            return max(limit, int(base * factor))
    return limit


def _rotary(text: Config, hidden: int, heads: int) -> int:
    if text.get("alibi") or text.get("position_embedding_type") == "alibi" or _learned_positions(text, hidden):
        return 0
    if text.get("qk_rope_head_dim"):
        return number(text, "qk_rope_head_dim")
    dim = divisor(text, "head_dim", "kv_channels", default=hidden // heads)
    return int(dim * float(text.get("partial_rotary_factor") or 1))


def _learned_positions(text: Config, hidden: int) -> int:
    kind = str(text.get("model_type", ""))
    if kind == "opt":
        return (number(text, "max_position_embeddings") + 2) * hidden
    if kind in _ENCODERS_ONLY and text.get("position_embedding_type") in ("absolute", None) and kind != "modernbert":
        return (number(text, "max_position_embeddings") + number(text, "type_vocab_size", default=0)) * hidden
    return 0


def _tied_by_default(text: Config) -> bool:
    return str(text.get("model_type", "")).startswith(("gemma", "opt", "bloom", "falcon"))


def _quantisation(config: Config, text: Config) -> str | None:
    found = _either(config, text, "quantization_config") or config.get("compression_config")
    if not isinstance(found, Mapping):
        return None
    method = str(found.get("quant_method", "")).lower()
    bits = found.get("bits") or found.get("w_bit")
    if method in ("gptq", "awq") and isinstance(bits, int):
        return f"{method}-int{bits}"
    if method in ("bitsandbytes", "bnb"):
        return "bnb-nf4" if found.get("load_in_4bit") else "int8"
    if method == "fp8" and found.get("weight_block_size"):
        return "fp8-block"
    if method in ("compressed-tensors", "modelopt"):
        return _grouped_format(found) or method
    return method or None


def _grouped_format(found: Config) -> str | None:
    groups = found.get("config_groups")
    if not isinstance(groups, Mapping) or not groups:
        return str(found.get("quant_algo", "")).lower() or None
    weights = next(iter(groups.values())).get("weights") or {}
    bits, kind = weights.get("num_bits"), weights.get("type")
    if bits == 8:
        return "fp8-dynamic" if kind == "float" else "int8"
    if bits == 4:
        return "nvfp4" if kind == "float" else "w4a16"
    return None


def _generates(config: Config) -> bool:
    kind = str(config.get("model_type", ""))
    if kind in _ENCODERS_ONLY or kind == "chatglm":
        return kind == "chatglm"
    named = config.get("architectures")
    names = [str(name) for name in named] if isinstance(named, list) else []
    return not names or not all(name.endswith(("Model", "ForSequenceClassification", "ForMaskedLM")) for name in names)

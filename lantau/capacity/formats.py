"""Number formats of weights and caches: bytes an element, which tensors they apply to, what kernels ask of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

Part = Literal["attention", "mlp", "experts", "embedding"]

EVERYTHING: Final[frozenset[Part]] = frozenset({"attention", "mlp", "experts", "embedding"})
LINEAR: Final[frozenset[Part]] = frozenset({"attention", "mlp", "experts"})
FEED_FORWARD: Final[frozenset[Part]] = frozenset({"mlp", "experts"})
EXPERTS: Final[frozenset[Part]] = frozenset({"experts"})


class UnknownFormatError(ValueError):
    """A number format whose size is not known; the message names what would be."""


@dataclass(frozen=True, slots=True)
class Format:
    """How weights are stored. Embedding, norms, routers and encoders keep the checkpoint's type unless it says so."""

    name: str
    bytes_per_weight: float | None
    """Bytes of one quantised weight with its scales; None when nothing is quantised."""
    parts: frozenset[Part] = LINEAR
    """Tensors that are quantised."""
    row_scale: float = 0.0
    """Bytes of scales for one output row, to be spread over the inputs."""
    group: int = 1
    """Inputs that share a scale: a rank's share of a row has to be a multiple."""
    capability: float = 0.0
    """Lowest compute capability that runs it at all."""
    native: float = 0.0
    """Lowest compute capability that multiplies in it; below, weights are expanded first."""
    spread: float = 0.005
    """How far the size of real checkpoints lies from the rule, as a share."""
    compute: Literal["half", "fp8", "fp4"] = "half"
    """Unit that multiplies where the card has it."""


_GGUF_BITS: Final = {
    "q8_0": 8.5,
    "q6_k": 6.56,
    "q5_k_m": 5.7,
    "q5_k_s": 5.54,
    "q5_0": 5.5,
    "q4_k_m": 4.85,
    "q4_k_s": 4.58,
    "q4_0": 4.5,
    "iq4_xs": 4.25,
    "q3_k_m": 3.9,
    "q2_k": 2.8,
}
"""Bits a weight of llama.cpp's formats, over all tensors."""

PLAIN: Final = Format("none", None)
_FORMATS: Final = (
    # Tried in this order: the first whose pattern is in the name decides.
    (r"mxfp4", Format("mxfp4", 4.25 / 8, EXPERTS, group=32, native=10.0, spread=0.02, compute="fp4")),
    (r"nvfp4|fp4", Format("nvfp4", 4.5 / 8, FEED_FORWARD, group=16, native=10.0, spread=0.08, compute="fp4")),
    (r"fp8.?block|block.?fp8", Format("fp8-block", 1 + 4 / 16384, group=128, native=8.9, compute="fp8")),
    (r"fp8|float8|e4m3|w8a8.?fp", Format("fp8", 1.0, row_scale=2.0, native=8.9, compute="fp8")),
    (r"awq", Format("awq", 0.5 + 2.5 / 128, group=128, capability=7.5)),
    (r"(gptq|autoround|marlin).*(int8|8.?bit)|w8a16", Format("gptq-int8", 1 + 2 / 128, group=128, capability=7.0)),
    (r"gptq|w4a16|autoround|auto.round|marlin", Format("w4a16", 0.5 + 2 / 128, group=128, capability=7.0)),
    (r"bnb|bitsandbytes|nf4", Format("bitsandbytes", 0.5 + 1 / 64, capability=7.0, spread=0.015)),
    (r"int8|w8a8|8.?bit", Format("int8", 1.0, row_scale=2.0, capability=7.5)),
    (r"int4|4.?bit|w4a8", Format("int4", 0.5 + 2 / 128, group=128, capability=7.0, spread=0.03)),
)
_PLAIN_NAMES: Final = frozenset(
    {"", "none", "no", "bf16", "bfloat16", "fp16", "float16", "half", "auto", "fp32", "float32"}
)
_IN_MODEL_NAME: Final = re.compile(
    r"(mxfp4|nvfp4|bf16|fp16|fp8[-_ ]?(?:block|dynamic)?|awq|gptq(?:[-_ ]?int[48])?|w4a16|w8a16|w8a8|int[48]"
    r"|bnb[-_ ]?4bit|4[-_ ]?bit|8[-_ ]?bit|nf4|i?q[2-8](?:_k)?(?:_[sml0]|_xs)?\b)",
    re.IGNORECASE,
)


@cache
def format_named(name: str | None) -> Format:
    """The format with a name as people and files write it; raises UnknownFormatError."""
    wanted = (name or "").strip().lower()
    if wanted in _PLAIN_NAMES:
        return PLAIN
    for quant, bits in _GGUF_BITS.items():
        if quant in wanted.replace("-", "_"):
            return Format(f"gguf-{quant}", bits / 8, EVERYTHING, spread=0.03)
    for pattern, found in _FORMATS:
        if re.search(pattern, wanted):
            return found
    known = ", ".join(sorted({found.name for _, found in _FORMATS}))
    raise UnknownFormatError(f"{name!r} is no number format whose size is known; known are {known} and none")


@cache
def format_in_name(model: str) -> str | None:
    """The format that a model's name announces, such as `Qwen3-8B-AWQ`; None when it names none."""
    found = _IN_MODEL_NAME.search(model.rpartition("/")[2])
    return found.group(1) if found else None


@cache
def cache_bytes(kv_dtype: str | None, element_bytes: int) -> float:
    """Bytes of one element of the cache; raises UnknownFormatError."""
    wanted = (kv_dtype or "auto").strip().lower()
    if wanted == "auto":
        return float(element_bytes)
    if wanted.startswith("fp8") or wanted in ("e4m3", "e5m2"):
        return 1.0
    if wanted in ("int8", "int8_per_token_head", "fp8_per_token_head"):
        return 1.0
    if wanted in ("bf16", "bfloat16", "fp16", "float16", "half"):
        return 2.0
    if wanted in ("fp32", "float32"):
        return 4.0
    if wanted == "nvfp4":
        return 0.5625
    raise UnknownFormatError(f"{kv_dtype!r} is no type of cache that is known; known are auto, fp8, int8, nvfp4, bf16")

"""What decides memory in an engine, by its version.

The sampler's copies and the buffers of hidden states were fitted to start-up logs (docs/capacity.md has the residuals);
defaults are those of the engines' own source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Final

from lantau.catalog.engines import engines

Version = tuple[int, ...]


class Share(StrEnum):
    """What the engine's memory fraction is a fraction of."""

    TOTAL = "total"
    """Of the card: weights, peak and cache together (vLLM)."""
    STATIC = "static"
    """Of the card: weights and cache; activations and graphs live in the rest (SGLang)."""
    FREE = "free"
    """Of what is free once the model is loaded and warm (TensorRT-LLM, TGI)."""
    DEMAND = "demand"
    """Nothing is set apart: the cache is as long as the requests (transformers, llama.cpp)."""


LARGE_CARD_GIB: Final = 70
"""From this memory on vLLM's API server takes larger batches, except on an A100."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine at a version, as far as memory depends on it. Sizes in GiB for one rank."""

    kind: str
    version: Version | None
    """None when it is not known; bounds then span the versions in use."""
    share: Share = Share.TOTAL
    utilisation: float = 0.90
    """Share of the card taken when no flag says otherwise; from the catalogue of engines."""
    sampler_copies: float = 9.53
    """Copies of the logits (sequences × vocabulary × 4 bytes) that live at once."""
    sampler_spread: tuple[float, float] = (9.53, 9.53)
    """Bounds of it."""
    hidden_copies: float = 1.55
    """Copies of a step's hidden states that live beside the largest other buffer."""
    keeps_moe_workspace: bool = True
    """Whether the workspace of the experts stays allocated beside the sampler's."""
    alone: tuple[float, float, float] = (0.05, 0.13, 0.3)
    """Memory outside the allocator with one card a replica: low, likely, high."""
    parallel: tuple[float, float, float] = (0.2, 0.55, 0.9)
    """The same with tensor parallelism: communicators and their buffers."""
    graphs_in_budget: bool = False
    """Whether CUDA graphs count against the share taken."""
    budgets_images: bool = True
    """Whether start-up encodes one image, and not one for each sequence."""
    chunked: bool = True
    """Whether long prompts are processed in parts by default."""
    large_batches: bool = True
    """Whether defaults grow on large cards."""
    window_savings: bool = True
    """Whether sliding-window layers keep their window only."""
    latent_cache: bool = True
    """Whether latent attention keeps its latent instead of full heads."""
    reports_length: bool = False
    """Whether the logged number of tokens is concurrency × context, and not blocks × block size."""


_DATES: Final = {
    (2023, 12): (0, 2), (2024, 2): (0, 3), (2024, 4): (0, 4), (2024, 6): (0, 5), (2024, 9): (0, 6), (2025, 1): (0, 7),
    (2025, 3): (0, 8), (2025, 5): (0, 9), (2025, 7): (0, 10), (2025, 10): (0, 11), (2025, 12): (0, 12),
    (2026, 1): (0, 14), (2026, 2): (0, 16), (2026, 3): (0, 18), (2026, 4): (0, 19), (2026, 5): (0, 20),
    (2026, 6): (0, 22),
}  # fmt: skip
"""Months from which a minor version of vLLM was current, for builds that are named by their date."""
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@cache
def parse_version(text: str | None) -> Version | None:
    """Numbers of a version such as `0.19.0`, `v0.8.5.post1` or `main Dec 2023`; None when it names none."""
    if not text:
        return None
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    if found:
        return tuple(int(part) for part in found.groups() if part is not None)
    dated = re.search(r"([a-z]{3})[a-z]*\.?\s+(20\d\d)", text.lower())
    if dated and dated.group(1) in _MONTHS:
        when = (int(dated.group(2)), _MONTHS.index(dated.group(1)) + 1)
        older = [version for month, version in _DATES.items() if month <= when]
        return older[-1] if older else (0, 1)
    return {"v0": (0, 7), "v1": (0, 10)}.get(text.strip().lower())


@cache
def engine_of(kind: str, version_text: str | None, *, fabric: bool) -> Engine:
    """The engine; `fabric`: whether the cards have NVLink, which makes newer releases reserve more beside the pool."""
    version = parse_version(version_text)
    name = ALIASES.get(kind.lower(), kind.lower())
    if name in KINDS:
        found = _vllm(version, fabric=fabric) if name == "vllm" else _OTHERS[name](version)
        return replace(found, utilisation=engines()[name].utilisation_at(version))
    raise UnknownEngineError(f"{kind!r} is no engine whose memory is known; known are {', '.join(KINDS)}")


def _vllm(version: Version | None, *, fabric: bool) -> Engine:
    if version is None:
        return Engine("vllm", None, sampler_spread=(3.66, 9.53), alone=(0.05, 0.2, 0.6), parallel=(0.2, 0.55, 2.2))
    line = version[:2]
    before_chunks = line < (0, 8)
    if line < (0, 17):
        return Engine(
            "vllm",
            version,
            keeps_moe_workspace=line >= (0, 12),
            budgets_images=not before_chunks,
            chunked=not before_chunks,
            large_batches=not before_chunks,
            window_savings=line >= (0, 8),
            latent_cache=line >= (0, 7),
            alone=(0.05, 0.13, 0.5),
            parallel=(0.2, 0.25, 0.9) if before_chunks else (0.3, 0.55, 0.9),
        )
    in_use = (3.6, 3.8) if line < (0, 20) else (3.0, 4.6)
    full = (1.8, 2.1, 2.3) if fabric else (0.4, 0.6, 1.2)
    return Engine(
        "vllm",
        version,
        sampler_copies=3.66,
        sampler_spread=in_use,
        alone=(0.05, 0.25, 0.5),
        parallel=(0.4, 0.6, 2.2) if line == (0, 17) else full,
        graphs_in_budget=line >= (0, 21),
        reports_length=line >= (0, 21),
    )


_OTHERS: Final[dict[str, Callable[[Version | None], Engine]]] = {
    "sglang": lambda version: Engine(
        "sglang", version, share=Share.STATIC, alone=(0.3, 0.6, 1.2), parallel=(0.5, 1.2, 2.5)
    ),
    "tensorrt-llm": lambda version: Engine(
        "tensorrt-llm", version, share=Share.FREE, alone=(0.3, 0.7, 1.5), parallel=(0.5, 1.2, 2.5)
    ),
    "tgi": lambda version: Engine(
        "tgi",
        version,
        share=Share.FREE,
        window_savings=False,
        large_batches=False,
        alone=(0.3, 0.6, 1.2),
        parallel=(0.5, 1.2, 2.5),
    ),
    "transformers": lambda version: Engine(
        "transformers",
        version,
        share=Share.DEMAND,
        sampler_copies=1.0,
        sampler_spread=(1.0, 1.0),
        alone=(0.0, 0.03, 0.6),
    ),
    "llama.cpp": lambda version: Engine(
        "llama.cpp",
        version,
        share=Share.DEMAND,
        sampler_copies=1.0,
        sampler_spread=(1.0, 2.0),
        alone=(0.2, 0.4, 0.8),
    ),
}
ALIASES: Final = {
    "trt-llm": "tensorrt-llm",
    "tensorrt_llm": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
    "llamacpp": "llama.cpp",
    "llama-cpp": "llama.cpp",
    "hf": "transformers",
}
KINDS: Final = ("vllm", *_OTHERS)


class UnknownEngineError(ValueError):
    """An engine whose memory is not known."""

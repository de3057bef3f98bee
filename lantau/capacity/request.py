"""One question to the estimator: a model on cards, with an engine and its flags."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CardMemory:
    """Memory of one card, or of one MIG instance, as the engine sees it."""

    name: str
    """Name of the card in the catalogue, or what the question called it."""
    gib: float
    """Total memory, GiB."""
    spread: float = 0.0
    """How far it may be off, as a share; 0 when it was read from the driver."""
    capability: float = 0.0
    """Compute capability; 0 when the card is not known."""
    fabric: bool = False
    """Whether cards are joined by NVLink."""
    large_batches: bool = False
    """Whether vLLM takes its larger batch defaults on it."""
    instance: bool = False
    """Whether it is a MIG instance, which cannot be joined with others."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags of the engine; None stands for its default."""

    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    max_model_len: int | None = None
    utilisation: float | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    kv_dtype: str | None = None
    dtype: str | None = None
    quantisation: str | None = None
    block_size: int = 16
    eager: bool = False
    """Whether CUDA graphs are off."""
    chunked_prefill: bool | None = None
    expert_parallel: bool = False
    images: int | None = None
    """Images a request may hold; 0 switches the encoder's profile off."""

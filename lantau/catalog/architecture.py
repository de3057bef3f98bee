"""What a model is made of, as far as memory and speed depend on it; read from the keys of its `config.json`.

Counts are of elements, not bytes. Nothing here depends on a card, an engine or a number format.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class UnknownLayoutError(ValueError):
    """The configuration describes something whose memory cannot be told from it; the message says what."""


class Kind(StrEnum):
    """What a layer's attention keeps of the tokens it has seen."""

    FULL = "full"
    """Keys and values of every token."""
    SLIDING = "sliding"
    """Keys and values of the last `window` tokens."""
    CHUNKED = "chunked"
    """Keys and values of the current chunk of `window` tokens."""
    LATENT = "latent"
    """One compressed vector a token (multi-head latent attention)."""
    LINEAR = "linear"
    """A state of fixed size a sequence (gated delta net and its kin)."""
    NONE = "none"
    """Nothing: the layer has no attention."""


@dataclass(frozen=True, slots=True)
class Attention:
    """The attention of a layer."""

    kind: Kind
    heads: int = 0
    """Query heads."""
    kv_heads: int = 0
    """Heads of keys and values; of values in a linear layer."""
    key_dim: int = 0
    """Elements of a key in one head; of the whole latent in a latent layer."""
    value_dim: int = 0
    """Elements of a value in one head."""
    window: int = 0
    """Tokens of a sliding window or a chunk."""
    index_dim: int = 0
    """Elements of the sparse-attention index a token, at one byte each with a scale of four bytes."""
    key_heads: int = 0
    """Key heads of a linear layer."""
    kernel: int = 0
    """Width of the convolution of a linear layer."""
    sharded: int = 0
    """Elements of the projections that tensor parallelism divides."""
    kv_projection: int = 0
    """Elements of the projections of keys and values, repeated when there are fewer heads than ranks."""
    replicated: int = 0
    """Elements of the projections that every rank holds."""
    absorbed: int = 0
    """Elements of the latent's up-projection, which engines keep a second time at 16 bits."""


@dataclass(frozen=True, slots=True)
class Mlp:
    """The feed-forward part of a layer."""

    intermediate: int = 0
    """Width of a dense layer, or of the shared experts together; 0 when there is neither."""
    gated: bool = True
    """Whether there are two input projections."""
    experts: int = 0
    """Experts of the layer; 0 in a dense layer."""
    active: int = 0
    """Experts a token goes through."""
    expert_intermediate: int = 0
    """Width of one expert."""

    @property
    def inputs(self) -> int:
        """Input projections."""
        return 2 if self.gated else 1

    def dense(self, hidden: int) -> int:
        """Elements of the dense part, or of the shared experts."""
        return (self.inputs + 1) * hidden * self.intermediate

    def expert(self, hidden: int) -> int:
        """Elements of one expert."""
        return (self.inputs + 1) * hidden * self.expert_intermediate


@dataclass(frozen=True, slots=True)
class Layer:
    """Layers that are alike."""

    attention: Attention
    mlp: Mlp
    small: int
    """Elements of norms, biases and routers, which stay at 16 bits and on every rank."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder of images or sound in front of the language model; it stays at 16 bits."""

    parameters: int
    """Elements."""
    width: int = 0
    inner: int = 0
    """Width of its feed-forward layers."""
    tokens: int = 0
    """Tokens that the largest input becomes in the language model."""
    patches: int = 0
    """Patches of that input inside the encoder."""


@dataclass(frozen=True, slots=True, eq=False)
class Architecture:
    """A model. Two are equal only when they are one object, which makes them cheap keys."""

    kind: str
    """`model_type` of the configuration."""
    hidden: int
    vocabulary: int
    layers: tuple[Layer, ...]
    """Layers in their order."""
    tied: bool
    """Whether the output projection is the embedding."""
    max_positions: int
    """Longest context that the configuration allows, tokens."""
    rotary_dim: int
    """Elements of a head that carry the position; 0 without rotary embedding."""
    bytes_per_element: int
    """Bytes of the type the checkpoint is stored in, before quantisation."""
    quantisation: str | None = None
    """Number format of the checkpoint itself, when it is stored quantised."""
    encoder: Encoder | None = None
    """None for a model of text alone."""
    positions_embedding: int = 0
    """Elements of a learned position embedding."""
    generates: bool = True
    """Whether it writes text; an embedding model or a classifier keeps no cache."""

    @property
    def text_parameters(self) -> int:
        """Elements of the model without its encoders."""
        embedding = self.vocabulary * self.hidden * (1 if self.tied or not self.generates else 2)
        total = embedding + self.positions_embedding + self.hidden
        for layer in self.layers:
            attention, mlp = layer.attention, layer.mlp
            total += attention.sharded + attention.kv_projection + attention.replicated
            total += mlp.dense(self.hidden) + mlp.experts * mlp.expert(self.hidden) + layer.small
        return total

    @property
    def parameters(self) -> int:
        """Elements of the whole model."""
        return self.text_parameters + (self.encoder.parameters if self.encoder else 0)

    @property
    def active_parameters(self) -> int:
        """Elements that one token is multiplied with; the embedding is only looked up."""
        total = self.vocabulary * self.hidden
        for layer in self.layers:
            attention, mlp = layer.attention, layer.mlp
            total += attention.sharded + attention.kv_projection + attention.replicated
            total += mlp.dense(self.hidden) + mlp.active * mlp.expert(self.hidden)
        return total

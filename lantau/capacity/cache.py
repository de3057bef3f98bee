"""The cache of keys and values: bytes of a token, and how a block manager turns memory into tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lantau.catalog.architecture import Attention, Kind, Layer

LARGEST_GROUP_RATIO = 1.5
"""Groups take the size of the largest kind when it is less than this times the smallest."""


@dataclass(frozen=True, slots=True)
class Group:
    """Layers that share a block table."""

    attention: Attention
    layers: int
    page: float
    """Bytes of one block in one layer."""
    block: int
    """Tokens of one block."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of blocks cut out of the free memory."""

    blocks: int
    groups: int
    """Groups of layers that draw from the pool."""
    block: int
    """Tokens of a block."""
    request_blocks: int
    """Blocks of one request of the longest context."""
    length: int

    @property
    def concurrency(self) -> float:
        """Requests of the longest context that fit at once."""
        return self.blocks / self.request_blocks if self.request_blocks else math.inf

    def tokens(self, *, reports_length: bool) -> int:
        """Tokens as the engine logs them."""
        if reports_length and self.groups > 1:
            return int(self.concurrency * self.length)
        return self.blocks // self.groups * self.block


def token_bytes(attention: Attention, *, tensor: int, element: float, latent: bool) -> float:
    """Bytes that one token takes in one layer of one rank."""
    if attention.kind in (Kind.LINEAR, Kind.NONE):
        return 0.0
    if attention.kind is Kind.LATENT:
        if not latent:
            return attention.heads / tensor * (attention.key_dim + attention.value_dim) * element
        # 656 bytes is the packed layout of an 8-bit latent beside a sparse index (FlashMLA's fp8_ds_mla).
        size = 656.0 if element == 1.0 and attention.index_dim else attention.key_dim * element
        return size + (attention.index_dim + 4 if attention.index_dim else 0)
    return max(1.0, attention.kv_heads / tensor) * (attention.key_dim + attention.value_dim) * element


def state_bytes(attention: Attention, *, tensor: int) -> float:
    """Bytes of the state that a linear layer keeps for one sequence on one rank: 32-bit state, 16-bit convolution."""
    state = attention.kv_heads * attention.key_dim * attention.value_dim * 4
    inner = 2 * attention.key_heads * attention.key_dim + attention.kv_heads * attention.value_dim
    return (state + (attention.kernel - 1) * inner * 2) / tensor


def groups_of(
    layers: Iterable[tuple[Layer, int]], *, tensor: int, element: float, latent: bool, windows: bool, block: int
) -> list[Group]:
    """Layers, each with how often it occurs, by what they keep; windows are full where the engine charges them so."""
    counted: dict[Attention, int] = {}
    for layer, times in layers:
        charged = _as_charged(layer.attention, windows=windows)
        counted[charged] = counted.get(charged, 0) + times
    found = [
        Group(attention, count, block * token_bytes(attention, tensor=tensor, element=element, latent=latent), block)
        for attention, count in counted.items()
        if attention.kind not in (Kind.LINEAR, Kind.NONE)
    ]
    states = [(a, n, state_bytes(a, tensor=tensor)) for a, n in counted.items() if a.kind is Kind.LINEAR]
    if states and found:
        # Blocks of attention grow until one covers the state of a sequence, so that all pages are alike.
        largest = max(size for _, _, size in states)
        page = min(group.page for group in found)
        factor = math.ceil(largest / page)
        found = [Group(g.attention, g.layers, g.page * factor, g.block * factor) for g in found]
        page = max(group.page for group in found)
        found += [Group(a, n, page, 0) for a, n, _ in states]
    if len({group.page for group in found}) > 1:
        page = max(group.page for group in found)
        found = [
            Group(g.attention, g.layers, page, max(1, round(g.block * page / g.page))) if g.block else g for g in found
        ]
    return found


def _as_charged(attention: Attention, *, windows: bool) -> Attention:
    if windows or attention.kind not in (Kind.SLIDING, Kind.CHUNKED):
        return attention
    return Attention(Kind.FULL, attention.heads, attention.kv_heads, attention.key_dim, attention.value_dim)


def pool_of(free: float, groups: list[Group], *, length: int, batched: int) -> Pool | None:
    """The pool that `free` bytes give; None when the model keeps no cache."""
    if not groups:
        return None
    counts = [group.layers for group in groups]
    if len(groups) == 1:
        size = counts[0]
    else:
        fewest, most = min(counts), max(counts)
        size = most if most < LARGEST_GROUP_RATIO * fewest else fewest
    tables = [(group, math.ceil(group.layers / size)) for group in groups]
    blocks = max(0, int(free // (groups[0].page * size)))
    request = sum(times * blocks_of(group, length, batched) for group, times in tables)
    block = min(group.block for group in groups if group.block)
    return Pool(blocks, sum(times for _, times in tables), block, request, length)


def blocks_of(group: Group, length: int, batched: int) -> int:
    """Blocks that one request of `length` tokens takes in one table of a group."""
    attention = group.attention
    if attention.kind is Kind.LINEAR:
        return 1
    if attention.kind is Kind.SLIDING:
        return math.ceil(min(attention.window - 1 + batched, length) / group.block) + 1
    if attention.kind is Kind.CHUNKED:
        return math.ceil(min(attention.window + batched, length) / group.block)
    return math.ceil(length / group.block)

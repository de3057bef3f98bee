"""Finds the architecture a model's name stands for: fine-tunes and quantised copies share that of their base."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_DECORATION: Final = re.compile(
    r"\((.*?)\)|\b(instruct|chat|it|hf|base|pt|sft|dpo|awq|gptq|gguf|ggml|mlx|exl2|autoround|quantized|quantised|dynamic|static|"
    r"fp8|fp4|nvfp4|mxfp4|bf16|fp16|int4|int8|[48]\s?bit|w4a16|w8a8|w8a16|w4a8|4b 128g|g128|kv|block|nf4|bnb|unsloth|"
    r"marlin|torch|preview|latest|2[3-6][01]\d|0[1-9][0-3]\d)\b",
)
_GGUF: Final = re.compile(r"\bi?q[2-8](?: (?:[kmsl01]|xx?s|nl))*\b")
SHORTEST_TAIL = 7
"""Letters of a known name that must end an unknown one before it is taken for a fine-tune of it."""


def plain(name: str) -> str:
    """A model's name without its owner, its number format and the words for its tuning, in one spelling."""
    text = name.rpartition("/")[2].lower()
    text = _GGUF.sub(" ", re.sub(r"[_\-\s:]+", " ", text.replace("_", " ")))
    text = _DECORATION.sub(" ", text)
    text = re.sub(r"\b(meta|redhatai|neuralmagic|nvidia)\s", " ", text)
    return re.sub(r"[^a-z0-9.]+", "", text).strip(".")


def candidates(name: str) -> Iterator[str]:
    """Spellings of a name from the exact one to the plain one."""
    yield name.lower()
    yield name.rpartition("/")[2].lower()
    yield plain(name)


def base_of(name: str, known: Iterable[str]) -> str | None:
    """The longest known plain name that ends a name, as in `Hermes-3-Llama-3.1-8B`."""
    text = plain(name)
    ends = [one for one in known if len(one) >= SHORTEST_TAIL and text.endswith(one)]
    return max(ends, key=len, default=None)


def index(named: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    """Entries by every spelling of their names; the exact spelling of one entry wins over the plain one of another."""
    exact: dict[str, str] = {}
    loose: dict[str, str] = {}
    for key, names in named:
        for name in (key, *names):
            exact.setdefault(name.lower(), key)
            exact.setdefault(name.rpartition("/")[2].lower(), key)
            loose.setdefault(plain(name), key)
    return {**loose, **exact}

"""The encoder of images or sound, read from a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lantau.catalog.architecture import Encoder
from lantau.catalog.reading import Config, divisor, number

LARGEST_IMAGE_TOKENS: Final = 16384
"""Tokens of the largest image where the configuration sets no size (Qwen2-VL and its successors)."""
FRAMES_AS_PATCHES: Final = 3000
"""Frames of the 30 s of sound that Whisper-like encoders take."""


def encoder_of(config: Config) -> Encoder | None:
    """The encoder that `vision_config` or `audio_config` describes; None when there is neither."""
    for key in ("vision_config", "audio_config"):
        part = config.get(key)
        if isinstance(part, Mapping) and part:
            return _encoder(config, part, sound=key == "audio_config")
    if config.get("encoder_layers") and config.get("is_encoder_decoder", True):
        return _encoder(config, config, sound=True)
    return None


def _encoder(config: Config, part: Config, *, sound: bool) -> Encoder:
    width = number(part, "embed_dim", "hidden_size", "width", "d_model", default=0)
    depth = number(part, "encoder_layers", "num_hidden_layers", "depth", "layers", default=0)
    ratio = part.get("mlp_ratio")
    inner = (
        int(width * float(ratio)) if ratio else number(part, "encoder_ffn_dim", "intermediate_size", default=4 * width)
    )
    projections = 3 if str(part.get("hidden_act", "")) == "silu" else 2
    patch = divisor(part, "patch_size", default=14)
    tokens, patches = (FRAMES_AS_PATCHES // 2, FRAMES_AS_PATCHES) if sound else _image(config, part, patch)
    return Encoder(
        parameters=depth * (4 * width * width + projections * width * inner) + 3 * patch * patch * width,
        width=width,
        inner=inner,
        tokens=tokens,
        patches=patches,
    )


def _image(config: Config, part: Config, patch: int) -> tuple[int, int]:
    merge = divisor(part, "spatial_merge_size", default=divisor(config, "spatial_merge_size", default=1))
    size = number(part, "image_size", default=0)
    patches = (size // patch) ** 2 if size else LARGEST_IMAGE_TOKENS * 4
    tokens = number(config, "mm_tokens_per_image", default=patches // (merge * merge) if size else LARGEST_IMAGE_TOKENS)
    return tokens, patches

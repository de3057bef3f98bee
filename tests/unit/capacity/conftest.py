"""Questions to the estimator that tests vary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lantau.capacity.engines import engine_of
from lantau.capacity.fit import Fit, fit
from lantau.capacity.request import CardMemory, Flags
from lantau.catalog.architectures import architecture

H100 = CardMemory("h100-sxm", 79.19, capability=9.0, fabric=True, large_batches=True)
RTX_4090 = CardMemory("rtx-4090", 23.55, capability=8.9)
Ask = Callable[..., Fit]


@pytest.fixture
def ask() -> Ask:
    """Estimate a model; flags are given by keyword."""

    def one(
        model: str = "Qwen/Qwen3-8B",
        card: CardMemory = H100,
        version: str | None = "0.19.0",
        engine: str = "vllm",
        form: str | None = None,
        **flags: Any,
    ) -> Fit:
        asked = replace(Flags(), **{"max_model_len": 8192, **flags})
        found = architecture(model)
        return fit(
            found, card, engine_of(engine, version, fabric=card.fabric), asked, format_name=form or found.quantisation
        )

    return one

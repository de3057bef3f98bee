"""Failures at start-up that a look at the cache alone would miss."""

from __future__ import annotations

import pytest

from lantau.capacity.fit import Binding, Verdict
from lantau.capacity.request import CardMemory
from tests.unit.capacity.conftest import H100, RTX_4090, Ask

TURING = CardMemory("t4", 14.56, capability=7.5)
SLICE = CardMemory("a100-sxm4-80gb 3g.40gb", 39.5, capability=8.0, instance=True)


@pytest.mark.parametrize(
    ("model", "flags", "part"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", {"tensor_parallel": 8}, "28 attention heads cannot be divided"),
        ("microsoft/phi-4", {"tensor_parallel": 4}, "10 heads of keys and values"),
        ("meta-llama/Llama-3.1-8B-Instruct", {"pipeline_parallel": 64}, "32 layers cannot fill 64"),
        ("google/gemma-2-9b-it", {"max_model_len": 16000}, "exceeds the 8,192 positions"),
        ("Qwen/Qwen3-30B-A3B", {"tensor_parallel": 4, "form": "awq"}, "shares scales over 128 inputs"),
    ],
)
def test_a_rule_of_the_engine_refuses_although_memory_would_do(
    ask: Ask, model: str, flags: dict[str, int], part: str
) -> None:
    found = ask(model, **flags)
    assert found.verdict is Verdict.DOES_NOT_FIT
    assert found.binding is Binding.RULE
    assert part in found.reason


def test_a_mig_instance_cannot_be_joined_with_another(ask: Ask) -> None:
    assert "MIG" in ask(card=SLICE, tensor_parallel=2).reason
    assert ask(card=SLICE).verdict is Verdict.FITS


@pytest.mark.parametrize(
    ("flags", "part"),
    [({"dtype": "bfloat16"}, "use float16"), ({"kv_dtype": "fp8"}, "a cache of 8 bits"), ({"form": "marlin"}, "")],
)
def test_a_number_format_that_the_card_lacks_is_refused(ask: Ask, flags: dict[str, str], part: str) -> None:
    found = ask("Qwen/Qwen3-0.6B", TURING, **flags)
    if part:
        assert found.verdict is Verdict.DOES_NOT_FIT
        assert part in found.reason
    else:
        assert found.verdict is not Verdict.DOES_NOT_FIT


def test_a_share_that_leaves_no_room_for_graphs_is_refused_before_they_are_counted(ask: Ask) -> None:
    tight = ask("Qwen/Qwen3-4B", RTX_4090, utilisation=0.99)
    assert tight.verdict is Verdict.DOES_NOT_FIT
    assert tight.binding is Binding.START
    assert "gpu_memory_utilization" in tight.reason
    assert ask("Qwen/Qwen3-4B", RTX_4090, utilisation=0.90).verdict is Verdict.FITS


def test_graphs_are_inside_the_share_since_the_release_that_counts_them(ask: Ask) -> None:
    beside, inside = ask(version="0.19.0", utilisation=0.9), ask(version="0.21.0", utilisation=0.9)
    assert beside.rank
    assert inside.rank
    assert inside.rank.cache < beside.rank.cache
    eager = ask(version="0.21.0", utilisation=0.9, eager=True)
    assert eager.rank
    assert eager.rank.cache > inside.rank.cache


def test_a_step_smaller_than_the_context_needs_chunked_prefill(ask: Ask) -> None:
    found = ask(version="0.7.0", max_model_len=16384, max_num_batched_tokens=4096)
    assert "chunked prefill" in found.reason
    assert (
        ask(version="0.7.0", max_model_len=16384, max_num_batched_tokens=4096, chunked_prefill=True).verdict
        is Verdict.FITS
    )
    assert H100.gib > 79

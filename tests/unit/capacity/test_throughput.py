"""Rates against what others measured, and the ways in which they have to change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lantau.capacity.formats import PLAIN, format_named
from lantau.capacity.throughput import Range, Speed, speed
from lantau.catalog.architectures import architecture
from lantau.catalog.cards import cards

MEASURED = [
    # Qwen's documentation: one request, SGLang 0.4.6 on H20, milliseconds a token.
    ("Qwen/Qwen3-32B", "h20-96gb", 1, None, 1000 / 20.7),
    ("Qwen/Qwen3-32B", "h20-96gb", 1, "fp8", 1000 / 46.2),
    ("Qwen/Qwen3-32B", "h20-96gb", 1, "awq", 1000 / 47.7),
    ("Qwen/Qwen3-8B", "h20-96gb", 1, None, 1000 / 81.7),
    ("Qwen/Qwen3-8B", "h20-96gb", 1, "fp8", 1000 / 150),
    ("Qwen/Qwen3-8B", "h20-96gb", 1, "awq", 1000 / 144),
    ("Qwen/Qwen3-30B-A3B", "h20-96gb", 1, None, 1000 / 137),
    ("Qwen/Qwen3-235B-A22B", "h20-96gb", 4, "fp8", 1000 / 71.7),
    # tt-inference-server issues 143 and 356: vLLM on H100.
    ("Qwen/Qwen2.5-72B-Instruct", "h100-sxm", 2, None, 30.9),
    ("deepseek-ai/DeepSeek-R1", "h100-sxm", 8, "awq", 16.1),
]


def of(
    model: str = "Qwen/Qwen3-8B",
    card: str = "h100-sxm",
    *,
    tensor: int = 1,
    batch: int = 1,
    context: int = 1000,
    form: str | None = None,
    kv_dtype: str | None = None,
    share: float = 1.0,
) -> Speed:
    return speed(
        architecture(model),
        cards()[card],
        tensor=tensor,
        batch=batch,
        context=context,
        form=format_named(form),
        kv_dtype=kv_dtype,
        memory_share=share,
        compute_share=share,
    )


@pytest.mark.parametrize(("model", "card", "tensor", "form", "milliseconds"), MEASURED)
def test_a_measured_time_a_token_lies_within_the_range(
    model: str, card: str, tensor: int, form: str | None, milliseconds: float
) -> None:
    step = of(model, card, tensor=tensor, form=form).step_ms
    assert step.low <= milliseconds <= step.high


def test_likely_times_are_off_by_less_than_half_in_the_median() -> None:
    off = sorted(abs(of(m, c, tensor=t, form=f).step_ms.likely / seen - 1) for m, c, t, f, seen in MEASURED)
    assert off[len(off) // 2] < 0.35


def test_every_range_is_in_order() -> None:
    found = of(batch=16)
    for values in (found.decode, found.per_request, found.prefill, found.step_ms):
        assert values.low < values.likely < values.high


def test_more_requests_write_more_in_all_and_less_each() -> None:
    one, many = of(batch=1), of(batch=64)
    assert many.decode.likely > one.decode.likely * 10
    assert many.per_request.likely < one.per_request.likely


def test_a_longer_context_slows_every_step_and_a_smaller_cache_type_gives_some_of_it_back() -> None:
    short, long = of(batch=32, context=500), of(batch=32, context=16_000)
    assert long.step_ms.likely > short.step_ms.likely
    assert of(batch=32, context=16_000, kv_dtype="fp8").step_ms.likely < long.step_ms.likely


def test_a_sliding_window_is_read_no_further_than_it_reaches() -> None:
    grows = (
        of("google/gemma-3-27b-it", batch=8, context=64_000).step_ms.likely
        / of("google/gemma-3-27b-it", batch=8, context=8_000).step_ms.likely
    )
    full = (
        of("Qwen/Qwen3-32B", batch=8, context=64_000).step_ms.likely
        / of("Qwen/Qwen3-32B", batch=8, context=8_000).step_ms.likely
    )
    assert grows < full


def test_a_single_request_of_a_sparse_model_reads_its_active_experts_only() -> None:
    assert of("Qwen/Qwen3-30B-A3B").step_ms.likely < of("Qwen/Qwen3-32B").step_ms.likely / 2


def test_cards_without_a_fabric_lose_time_between_them() -> None:
    card = cards()["rtx-4090"]
    joined = replace_nvlink(card.nvlink_gb_s)
    model = architecture("Qwen/Qwen3-32B")
    apart = speed(model, card, tensor=4, batch=64, context=1000, form=PLAIN)
    assert joined.step_ms.likely < apart.step_ms.likely


def replace_nvlink(_: float) -> Speed:
    card = cards()["rtx-4090"].model_copy(update={"nvlink_gb_s": 600.0})
    return speed(architecture("Qwen/Qwen3-32B"), card, tensor=4, batch=64, context=1000, form=PLAIN)


def test_a_mig_instance_is_slower_by_its_share_of_the_memory() -> None:
    whole, half = of(card="a100-sxm4-80gb"), of(card="a100-sxm4-80gb", share=0.5)
    assert half.per_request.likely < whole.per_request.likely
    assert half.prefill.likely == pytest.approx(whole.prefill.likely / 2)


def test_prompts_are_read_faster_by_cards_with_more_arithmetic_and_answers_by_those_with_more_bandwidth() -> None:
    # An H20 reads prompts several times slower than an H100 and yet writes faster.
    h20, h100 = of(card="h20-96gb"), of(card="h100-sxm")
    assert h100.prefill.likely > 5 * h20.prefill.likely
    assert h20.per_request.likely > h100.per_request.likely


def test_what_a_step_waits_for_is_named() -> None:
    assert of("Qwen/Qwen3-32B").limit == "memory"
    assert of("Qwen/Qwen3-0.6B").limit == "layers"
    assert of("Qwen/Qwen3-32B", "h20-96gb", batch=512, context=100).limit == "arithmetic"


def test_a_range_keeps_its_order_in_another_unit() -> None:
    assert Range(1, 2, 3).times(1000) == Range(1000, 2000, 3000)
    assert replace(Range(1, 2, 3), low=0) == Range(0, 2, 3)

"""Verdicts, and the numbers behind them."""

from __future__ import annotations

import pytest

from lantau.capacity.fit import Binding, Verdict
from tests.unit.capacity.conftest import H100, RTX_4090, Ask


def test_a_small_model_on_a_large_card_fits_with_the_tokens_that_its_engine_logs(ask: Ask) -> None:
    found = ask(utilisation=0.95)
    assert found.verdict is Verdict.FITS
    assert found.tokens == pytest.approx(418_688, rel=0.01)
    assert found.concurrency == pytest.approx(51.11, rel=0.01)


def test_weights_larger_than_the_card_do_not_fit_and_the_reason_says_by_how_much(ask: Ask) -> None:
    found = ask("Qwen/Qwen3-32B", RTX_4090)
    assert found.verdict is Verdict.DOES_NOT_FIT
    assert found.binding is Binding.MEMORY
    assert "61.0 GiB of weights" in found.reason or "GiB of weights" in found.reason
    assert found.rank
    assert found.rank.weights == pytest.approx(61.0, abs=0.3)


def test_a_context_longer_than_the_cache_does_not_fit_and_the_longest_that_would_is_named(ask: Ask) -> None:
    found = ask("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", RTX_4090, tensor_parallel=2, max_model_len=131072)
    assert found.verdict is Verdict.DOES_NOT_FIT
    assert found.binding is Binding.CACHE
    assert found.longest
    shorter = ask(
        "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", RTX_4090, tensor_parallel=2, max_model_len=found.longest // 2
    )
    assert shorter.verdict is Verdict.FITS


def test_bounds_hold_the_likely_figure(ask: Ask) -> None:
    found = ask()
    assert found.tokens_low
    assert found.tokens
    assert found.tokens_high
    assert found.tokens_low < found.tokens < found.tokens_high


def test_an_unknown_version_widens_the_bounds(ask: Ask) -> None:
    known, unknown = ask(), ask(version=None)
    assert known.rank
    assert unknown.rank
    width = known.rank.cache_high - known.rank.cache_low
    assert unknown.rank.cache_high - unknown.rank.cache_low > width


def test_the_release_that_shrank_the_sampler_leaves_more_for_the_cache(ask: Ask) -> None:
    before, since = ask("Qwen/Qwen3-14B", version="0.16.0"), ask("Qwen/Qwen3-14B", version="0.17.0")
    assert before.rank
    assert since.rank
    assert since.rank.cache - before.rank.cache > 3


def test_a_request_that_only_just_fits_is_marginal(ask: Ask) -> None:
    edge = ask(RTX_4090 and "Qwen/Qwen3-8B", RTX_4090).longest
    assert edge
    found = ask("Qwen/Qwen3-8B", RTX_4090, max_model_len=min(edge, 40960))
    assert found.verdict in (Verdict.MARGINAL, Verdict.FITS)
    tight = ask("Qwen/Qwen3-14B", H100, utilisation=0.50, max_model_len=40960)
    assert tight.verdict is not Verdict.UNKNOWN


def test_an_embedding_model_keeps_no_cache(ask: Ask) -> None:
    found = ask("BAAI/bge-m3", RTX_4090)
    assert found.verdict is Verdict.FITS
    assert found.tokens is None


def test_a_sliding_window_saves_cache_unless_the_release_charges_it_in_full(ask: Ask) -> None:
    saving = ask("google/gemma-3-12b-it", max_model_len=65536)
    charged = ask("google/gemma-3-12b-it", max_model_len=65536, version="0.6.0")
    assert saving.concurrency
    assert charged.concurrency
    assert saving.concurrency > 2 * charged.concurrency


def test_an_8_bit_cache_holds_twice_the_tokens(ask: Ask) -> None:
    plain, small = ask(), ask(kv_dtype="fp8")
    assert plain.tokens
    assert small.tokens == pytest.approx(2 * plain.tokens, rel=0.001)


def test_a_latent_cache_is_not_divided_by_tensor_parallelism(ask: Ask) -> None:
    name = "deepseek-ai/DeepSeek-V2-Lite-Chat"
    one, two = ask(name), ask(name, tensor_parallel=2)
    assert one.rank
    assert two.rank
    assert one.tokens
    assert two.tokens
    assert two.tokens / two.rank.cache == pytest.approx(one.tokens / one.rank.cache, rel=0.001)


def test_repeated_key_heads_stop_the_cache_from_shrinking(ask: Ask) -> None:
    four, eight = ask("Qwen/Qwen3-30B-A3B", tensor_parallel=4), ask("Qwen/Qwen3-30B-A3B", tensor_parallel=8)
    assert four.rank
    assert eight.rank
    assert four.tokens
    assert eight.tokens
    assert eight.tokens / eight.rank.cache == pytest.approx(four.tokens / four.rank.cache, rel=0.001)


def test_pipeline_stages_share_layers_and_the_last_one_samples(ask: Ask) -> None:
    found = ask("meta-llama/Llama-3.1-8B-Instruct", pipeline_parallel=2, utilisation=0.95)
    assert found.rank
    assert found.rank.stage == 1
    assert found.rank.weights == pytest.approx(7.51, rel=0.005)
    assert found.tokens == pytest.approx(1_075_312, rel=0.005)

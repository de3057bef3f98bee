"""Replicas, power and price of a load."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from lantau.capacity.cases import Case, Question, question
from lantau.capacity.service import UnservableError, device_of, requests_held, sized, speeds
from lantau.capacity.sizing import CACHE_MARGIN, DECODE_MARGIN, Load, Prices, size
from lantau.capacity.throughput import Range, Speed

STEADY = Speed(
    decode=Range(800, 1000, 1200), per_request=Range(25, 30, 40), prefill=Range(8_000, 10_000, 12_000),
    step_ms=Range(25, 33, 40), batch=32, context=2000, limit="memory",
)  # fmt: skip
LOAD = Load(requests_per_second=10, input_tokens=1000, output_tokens=300)


def asked(**fields: object) -> Question:
    return question(
        Case.model_validate(
            {"id": "a", "model": "Qwen/Qwen3-8B", "gpu": "RTX 4090", "engine_version": "0.19.0", **fields}
        )
    )


def test_the_tightest_of_cache_decode_and_prefill_decides() -> None:
    found = size(LOAD, STEADY, concurrency=1000, cards=1, card_watts=450)
    assert found.binding == "decode"
    assert found.needed == math.ceil(3000 / (DECODE_MARGIN * 1000))
    small = size(LOAD, STEADY, concurrency=5, cards=1, card_watts=450)
    assert small.binding == "cache"
    assert small.needed == math.ceil((10 * (1000 / 10_000 + 300 / 30)) / (CACHE_MARGIN * 5))
    reading = size(replace(LOAD, output_tokens=1, input_tokens=6000), STEADY, concurrency=1000, cards=1, card_watts=450)
    assert reading.binding == "prefill"
    assert reading.needed == 6


def test_one_replica_is_spare_so_that_a_node_may_fail() -> None:
    found = size(LOAD, STEADY, concurrency=1000, cards=1, card_watts=450)
    assert found.replicas == found.needed + 1
    assert size(LOAD, STEADY, concurrency=1000, cards=1, card_watts=450, spare=2).replicas == found.needed + 2


def test_even_a_load_of_nothing_needs_one_replica_and_its_spare() -> None:
    idle = Load(requests_per_second=0.001, input_tokens=10, output_tokens=10)
    assert size(idle, STEADY, concurrency=1000, cards=1, card_watts=450).replicas == 2


def test_bounds_of_the_speed_become_bounds_of_the_replicas() -> None:
    found = size(LOAD, STEADY, concurrency=1000, cards=1, card_watts=450)
    assert found.fleet.low <= found.replicas <= found.fleet.high
    assert found.fleet.low < found.fleet.high


def test_power_is_that_of_all_cards_and_their_share_of_the_machines() -> None:
    cards = size(LOAD, STEADY, concurrency=1000, cards=2, card_watts=300)
    machines = size(LOAD, STEADY, concurrency=1000, cards=2, card_watts=300, machine_watts=100)
    assert cards.watts.likely == pytest.approx(cards.replicas * 2 * 300 * 0.75)
    assert machines.watts.likely - cards.watts.likely == pytest.approx(100 * cards.replicas)


def test_a_price_is_of_the_tokens_written_and_holds_power_where_that_is_paid_apart() -> None:
    free = size(LOAD, STEADY, concurrency=1000, cards=1, card_watts=450, prices=Prices(2.0))
    paid = size(LOAD, STEADY, concurrency=1000, cards=1, card_watts=450, prices=Prices(2.0, per_kwh=0.2))
    assert free.per_million_tokens
    assert paid.per_million_tokens
    assert free.per_million_tokens.likely == pytest.approx(free.replicas * 2.0 / (3000 * 3600 / 1e6))
    assert paid.per_million_tokens.likely > free.per_million_tokens.likely
    assert size(LOAD, STEADY, concurrency=1000, cards=1, card_watts=450).per_million_tokens is None


def test_a_cache_that_holds_no_request_serves_no_load() -> None:
    with pytest.raises(ValueError, match="holds no request"):
        size(LOAD, STEADY, concurrency=0, cards=1, card_watts=450)


def test_a_replica_holds_fewer_long_requests_than_short_ones_and_never_more_than_a_step_takes() -> None:
    assert requests_held(asked(), 8000) < requests_held(asked(), 1000)
    assert requests_held(asked(max_num_seqs=4), 100) == 4


def test_speeds_end_with_the_largest_batch_that_the_cache_holds() -> None:
    of = asked()
    device = device_of(of)
    assert device
    assert speeds(of, device, 2048)[-1].batch == int(requests_held(of, 2048))


def test_a_load_with_requests_that_no_replica_holds_is_refused_with_their_length() -> None:
    of = asked(max_model_len=32768)
    device = device_of(of)
    assert device
    with pytest.raises(UnservableError, match=r"50,000 tokens is longer than the context of 32,768"):
        sized(of, device, Load(1, 49_000, 1_000))
    unbound = asked()
    with pytest.raises(UnservableError, match=r"longer than the model's 40,960"):
        sized(unbound, device, Load(1, 49_000, 1_000))


def test_twice_the_load_needs_about_twice_the_replicas() -> None:
    of = asked()
    device = device_of(of)
    assert device
    one, _ = sized(of, device, Load(20, 1500, 500))
    two, _ = sized(of, device, Load(40, 1500, 500))
    assert two.needed == pytest.approx(2 * one.needed, abs=1)


def test_a_card_that_is_known_by_its_memory_only_has_no_speed() -> None:
    assert device_of(asked(gpu="Unheard Of 9000", vram_gib=48)) is None


def test_a_mig_instance_with_media_engines_has_the_size_of_the_plain_one() -> None:
    plain, media = (device_of(asked(gpu=f"a100-sxm4-80gb {name}")) for name in ("1g.10gb", "1g.10gb+me"))
    assert plain == media

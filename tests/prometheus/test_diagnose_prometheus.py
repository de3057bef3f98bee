"""Every expression against a real Prometheus, and the three cases of growth told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lantau.cli import app
from lantau.diagnose.signals import SIGNALS
from tests.prometheus.conftest import Asked
from tests.prometheus.history import History, engine


def line(history: History, city: str, *, seconds: float, lost: float = 0.0) -> None:
    """What a probe from a city sees; every `1/lost`-th is lost."""
    history.gauge("probe_icmp_duration_seconds", seconds, job="lantau-path", phase="rtt", city=city)
    history.gauge(
        "probe_success",
        (lambda step: 0.0 if step % round(1 / lost) == 0 else 1.0) if lost else 1.0,
        job="lantau-path",
        city=city,
    )


def edge(history: History, milliseconds: float) -> None:
    """Bounds of Envoy's histogram are in milliseconds."""
    history.histogram("envoy_http_downstream_rq_time", milliseconds, {"envoy_http_conn_manager_prefix": "https-443"})


def test_a_platform_that_is_well_has_no_finding_and_every_signal_a_figure(asked: Asked) -> None:
    history = History()
    engine(history, "chat")
    edge(history, 900.0)
    line(history, "guangzhou", seconds=0.012)
    found = asked(history)
    assert found["findings"] == []
    assert found["unjudged"] == []
    assert found["exit"] == 0
    assert set(found["values"]) == set(SIGNALS)


def test_figures_are_those_of_the_history(asked: Asked) -> None:
    history = History()
    engine(history, "chat", cache=0.42, waiting=3.0, preempted=6.0, first_token=0.4, busy=70.0)
    values = asked(history)["values"]
    assert values["cache_used"]["chat"] == pytest.approx(0.42)
    assert values["waiting"]["chat"] == pytest.approx(3.0)
    assert values["preemptions"]["chat"] == pytest.approx(6.0, rel=0.05)
    assert values["finished"]["chat"] == pytest.approx(2.0, rel=0.05)
    assert 0.25 < values["first_token"]["chat"] <= 0.5
    assert values["card_busy"]["chat-qwen3-8b-r2-5d8f-x7k2p"] == pytest.approx(0.7)


def test_a_full_cache_with_requests_that_wait_is_short_memory(asked: Asked) -> None:
    history = History()
    engine(history, "chat", cache=0.98, waiting=7.0, preempted=12.0, first_token=4.0)
    (finding,) = asked(history)["findings"]
    assert (finding["kind"], finding["subject"]) == ("memory-short", "chat")
    assert "the cache is 98% full (P95)" in finding["evidence"]
    assert any("max_model_len" in action for action in finding["actions"])


def test_a_full_cache_that_nobody_waits_for_is_well_used_and_not_short(asked: Asked) -> None:
    history = History()
    engine(history, "chat", cache=0.98)
    assert asked(history)["findings"] == []


def test_idle_cards_with_a_slow_edge_point_before_the_engine(asked: Asked) -> None:
    history = History()
    engine(history, "chat", busy=20.0, answer=2.0)
    edge(history, 16_000.0)
    found = asked(history)
    (finding,) = found["findings"]
    assert finding["kind"] == "card-idle-but-slow"
    assert any("before the engine" in action for action in finding["actions"])
    assert found["exit"] == 1


def test_idle_cards_with_a_queue_point_to_the_batch(asked: Asked) -> None:
    history = History()
    engine(history, "chat", busy=20.0, first_token=9.0, queue=9.0, waiting=12.0)
    (finding,) = asked(history)["findings"]
    assert finding["kind"] == "card-idle-but-slow"
    assert any("max_num_seqs" in action for action in finding["actions"])


def test_busy_cards_that_are_slow_are_short_of_arithmetic_and_not_of_memory(asked: Asked) -> None:
    history = History()
    engine(history, "chat", busy=97.0, first_token=9.0)
    (finding,) = asked(history)["findings"]
    assert finding["kind"] == "compute-short"


def test_a_wait_that_the_users_accept_is_no_finding(asked: Asked) -> None:
    history = History()
    engine(history, "chat", busy=97.0, first_token=9.0)
    assert asked(history, "--first-token", "15")["findings"] == []


def test_a_slow_line_is_named_by_its_city_and_no_card_is_blamed(asked: Asked) -> None:
    history = History()
    engine(history, "chat", busy=20.0)
    line(history, "beijing", seconds=0.19, lost=0.1)
    line(history, "shenzhen", seconds=0.009)
    (finding,) = asked(history)["findings"]
    assert (finding["kind"], finding["subject"]) == ("path-slow", "beijing")
    assert any("190 ms" in evidence for evidence in finding["evidence"])
    assert any("are lost" in evidence for evidence in finding["evidence"])


def test_two_models_are_judged_each_by_its_own_cards(asked: Asked) -> None:
    history = History()
    engine(history, "chat", busy=97.0, first_token=9.0)
    engine(history, "chat-long", busy=10.0)
    (finding,) = asked(history)["findings"]
    assert (finding["kind"], finding["subject"]) == ("compute-short", "chat")


def test_what_has_no_figures_is_named_and_nothing_is_concluded(asked: Asked) -> None:
    history = History()
    history.gauge("vllm:kv_cache_usage_perc", 0.99, model_name="chat", engine="0")
    found = asked(history)
    assert found["findings"] == []
    assert "whether the line is slow: no figures of round_trip, loss" in found["unjudged"]


def test_a_saved_snapshot_gives_the_same_answer_without_the_server(asked: Asked, tmp_path: Path) -> None:
    history = History()
    engine(history, "chat", cache=0.98, waiting=7.0)
    saved = tmp_path / "evening.json"
    live = asked(history, "--save", str(saved))
    later = json.loads(CliRunner().invoke(app, ["diagnose", "--snapshot", str(saved), "--json"]).stdout)
    assert later["findings"] == live["findings"]

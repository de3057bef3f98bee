"""What an engine is started with: flags, environment and time limits that follow from a release and its cards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lantau.catalog import Card, cards
from lantau.release import Release, read_release
from lantau.release.engine_args import (
    ENGINE_FILE,
    RELEASE_FILE,
    STARTUP_PERIOD_SECONDS,
    Launch,
    launch,
    release_files,
    request_timeout_seconds,
    rollout_timeout_seconds,
)
from lantau.release.model import PRE_STOP_SECONDS

PROJECT = Path(__file__).parents[3]
A100 = cards()["a100-sxm4-80gb"]
RTX4090 = cards()["rtx-4090"]


def release(**changes: Mapping[str, Any]) -> Release:
    """Release r2 of the chat model, with changes by section."""
    data = read_release(PROJECT, "chat", "qwen3-8b-r2").model_dump(mode="json")
    for section, values in changes.items():
        data[section].update(values)
    return Release.model_validate(data)


def started(*on: Card, **changes: Mapping[str, Any]) -> Launch:
    return launch(release(**changes), served_name="chat", cards=on or (A100,))


def test_every_parameter_of_a_release_reaches_the_engine() -> None:
    config = started().config
    assert config["tensor-parallel-size"] == 1
    assert config["max-model-len"] == 16384
    assert config["gpu-memory-utilization"] == 0.9
    assert config["max-num-seqs"] == 96
    assert config["max-num-batched-tokens"] == 8192
    assert config["enable-prefix-caching"] is True


def test_prefix_caching_is_switched_off_by_the_negated_flag() -> None:
    config = started(parameters={"prefix_caching": False}).config
    assert config["no-enable-prefix-caching"] is True, "a `false` in the file is dropped by some versions of vLLM"
    assert "enable-prefix-caching" not in config


def test_no_flag_is_written_as_false() -> None:
    assert False not in [value for value in started(RTX4090).config.values() if isinstance(value, bool)]


def test_callers_see_the_same_model_name_whatever_the_release() -> None:
    first, second = started(), started(engine={"version": "0.21.0"}, model={"name": "Qwen/Qwen4-8B"})
    assert first.config["served-model-name"] == second.config["served-model-name"] == ["chat"]


def test_running_answers_are_drained_for_as_long_as_the_longest_takes() -> None:
    command = started().command
    assert command[:3] == ("vllm", "serve", "/models/weights")
    assert command[command.index("--shutdown-timeout") + 1] == "164", "4096 tokens at 25 tokens a second"


@pytest.mark.parametrize(("answer", "rate"), [(1, 10_000), (4096, 25), (16_000, 0.5), (8192, 7.3)])
def test_the_grace_period_exceeds_pre_stop_and_drain_together(answer: int, rate: float) -> None:
    made = release(limits={"answer_tokens": answer, "tokens_per_second": rate})
    command = launch(made, served_name="chat", cards=[A100]).command
    drain = int(command[command.index("--shutdown-timeout") + 1])
    assert drain * rate >= answer, "the longest answer must fit into the drain"
    assert made.grace_seconds > PRE_STOP_SECONDS + drain


def test_several_cards_without_p2p_are_told_not_to_try() -> None:
    pair = started(RTX4090, parameters={"tensor_parallel_size": 2})
    assert pair.environment["NCCL_P2P_DISABLE"] == "1"
    assert pair.config["disable-custom-all-reduce"] is True


@pytest.mark.parametrize(
    ("on", "size", "why"),
    [
        ([A100], 2, "these cards reach each other"),
        ([RTX4090], 1, "a single card has nobody to reach"),
    ],
)
def test_cards_that_need_no_such_help_keep_their_speed(on: list[Card], size: int, why: str) -> None:
    made = started(*on, parameters={"tensor_parallel_size": size})
    assert "NCCL_P2P_DISABLE" not in made.environment, why
    assert "disable-custom-all-reduce" not in made.config, why


def test_one_card_without_p2p_among_the_pools_decides() -> None:
    both = started(A100, RTX4090, parameters={"tensor_parallel_size": 2})
    assert both.environment["NCCL_P2P_DISABLE"] == "1", "a pod may overflow onto the other pool"


def test_nothing_is_downloaded_or_reported_at_run_time() -> None:
    environment = started().environment
    for switch in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
        assert environment[switch] == "1"


def test_everything_that_the_engine_writes_has_a_writable_home() -> None:
    environment = started().environment
    for variable in ("HOME", "VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "XDG_CACHE_HOME"):
        assert environment[variable].startswith("/cache"), "the root file system is read-only"


def test_probes_do_not_fill_the_log() -> None:
    assert started().config["disable-access-log-for-endpoints"] == "/health,/metrics"


def test_the_start_up_probe_waits_longer_for_larger_cards() -> None:
    small = started(RTX4090)
    large = started(A100, parameters={"tensor_parallel_size": 8})
    assert small.startup_failures * STARTUP_PERIOD_SECONDS == 600
    loading = 8 * A100.memory_gib * 0.9 / 0.5
    assert large.startup_failures * STARTUP_PERIOD_SECONDS >= loading + 300


def test_a_roll_out_may_take_as_long_as_pulling_and_loading_do() -> None:
    made = started()
    assert made.progress_seconds > made.pull_seconds + made.startup_seconds
    assert rollout_timeout_seconds(release(), made, 3) >= 3 * (made.progress_seconds + release().grace_seconds)


def test_the_gateway_gives_up_after_the_longest_answer_of_any_release() -> None:
    long = release(limits={"tokens_per_second": 10})
    assert request_timeout_seconds([release(), long]) > long.limits.longest_answer_seconds
    assert request_timeout_seconds([long]) == request_timeout_seconds([long, release()])


def test_the_files_of_a_release_say_what_runs() -> None:
    files = release_files(release(), started())
    yaml = YAML(typ="safe", pure=True)
    assert yaml.load(files[ENGINE_FILE]) == dict(started().config)
    assert Release.model_validate(yaml.load(files[RELEASE_FILE])).digest == release().digest


def test_equal_releases_give_equal_files() -> None:
    assert release_files(release(), started()) == release_files(release(), started())


def test_callers_get_five_routes_and_none_that_steers_the_engine() -> None:
    paths = {route.path for route in started().routes}
    assert paths == {
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/audio/transcriptions",
        "/v1/models",
    }

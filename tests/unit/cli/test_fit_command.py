"""What `lantau fit` answers to a person and to a program, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lantau.cli import app
from lantau.problems import InvalidInput

PROJECT = Path(__file__).parents[3]
CARD = ("--card", "rtx-4090", "--engine-version", "0.19.0")


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["fit", *arguments], input=given)


def answers(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_model_that_fits_ends_with_0_and_shows_its_memory_part_by_part() -> None:
    result = run("Qwen/Qwen3-8B", *CARD, "--context", "16384")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("fits: Qwen/Qwen3-8B on 1 × rtx-4090, vllm 0.19.0")
    for part in ("weights 15.27", "activations", "outside the allocator", "cache", "of 23.55 GiB"):
        assert part in result.stdout


def test_a_model_that_does_not_fit_ends_with_1_and_is_offered_changes_that_would() -> None:
    result = run("Qwen/Qwen3-14B", *CARD, "--context", "16384", "--json")
    assert result.exit_code == 1
    (found,) = answers(result)
    assert found["verdict"] == "does not fit"
    assert found["binding"] == "memory"
    assert found["fits_with"]
    flags = {"parameters.tensor_parallel_size": "--tp", "model.format": "--quantization"}
    for change in found["fits_with"]:
        changed = run(
            "Qwen/Qwen3-14B", *CARD, "--context", "16384", "--json", flags[change["field"]], str(change["value"])
        )
        assert answers(changed)[0]["verdict"] == "fits", change


def test_the_longest_context_that_is_named_fits_once_and_twice_as_much_does_not() -> None:
    (found,) = answers(run("Qwen/Qwen3-8B", *CARD, "--context", "40960", "--json"))
    longest = found["longest_context"]
    assert answers(run("Qwen/Qwen3-8B", *CARD, "--context", str(longest // 2), "--json"))[0]["verdict"] == "fits"
    assert found["max_concurrency"] < 1 or found["verdict"] != "does not fit"


def test_figures_come_with_their_bounds() -> None:
    (found,) = answers(run("Qwen/Qwen3-8B", *CARD, "--context", "16384", "--json"))
    assert found["kv_cache_tokens_low"] < found["kv_cache_tokens"] < found["kv_cache_tokens_high"]
    for speed in found["speed"]:
        assert speed["per_request"]["low"] < speed["per_request"]["likely"] < speed["per_request"]["high"]


def test_a_load_is_answered_by_replicas_with_a_spare_one_power_and_price() -> None:
    result = run(
        "Qwen/Qwen3-8B", *CARD, "--context", "16384", "--json", "--requests-per-second", "5", "--price-card-hour", "0.6"
    )
    size = answers(result)[0]["size"]
    assert size["replicas"] == size["needed"] + 1
    assert size["fleet"]["low"] <= size["replicas"] <= size["fleet"]["high"]
    assert size["watts"]["likely"] > 450 * size["needed"] * 0.5
    hour = 5 * 500 * 3600 / 1e6
    assert size["per_million_tokens"]["likely"] == pytest.approx(size["replicas"] * 0.6 / hour, rel=0.01)


def test_a_load_of_requests_longer_than_the_context_is_refused_with_both_lengths() -> None:
    result = run("Qwen/Qwen3-8B", *CARD, "--context", "2048", "--requests-per-second", "5", "--input-tokens", "4000")
    assert result.exit_code == 2
    assert "4,500 tokens is longer than the context of 2,048" in result.stderr


def test_without_a_card_every_card_of_the_catalogue_is_judged_with_the_fewest_that_suffice() -> None:
    found = {line["card"]: line for line in answers(run("Qwen/Qwen3-32B", "--context", "16384", "--json"))}
    assert len(found) >= 20
    assert (found["h200"]["tensor_parallel_size"], found["h200"]["verdict"]) == (1, "fits")
    assert found["rtx-4090"]["tensor_parallel_size"] == 4


def test_a_mig_instance_is_judged_as_a_device_of_its_own() -> None:
    (whole,) = answers(run("Qwen/Qwen3-8B", "--card", "a100-sxm4-80gb", "--context", "8192", "--json"))
    (part,) = answers(run("Qwen/Qwen3-8B", "--card", "a100-sxm4-80gb 3g.40gb", "--context", "8192", "--json"))
    assert part["card_gib"] < whole["card_gib"] * 0.52
    assert part["speed"][0]["per_request"]["likely"] < whole["speed"][0]["per_request"]["likely"]
    (joined,) = answers(run("Qwen/Qwen3-8B", "--card", "a100-sxm4-80gb 3g.40gb", "--tp", "2", "--json"))
    assert joined["verdict"] == "does not fit"
    assert "MIG" in joined["reason"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to judge was named"),
        (("Qwen/Qwen3-8B", "--stack", "hk-prod"), "MODEL and --stack were given together"),
        (("Qwen/Qwen3-8B", *CARD, "--gpu-memory-utilization", "0"), "must be above 0"),
        (("Qwen/Qwen3-8B", *CARD, "--requests-per-second", "-1"), "must be above 0"),
        (("Qwen/Qwen3-8B", "--requests-per-second", "1"), "add --card"),
        (("Qwen/Qwen3-8B", *CARD, "--index", "x.json"), "--index goes with --config"),
        (("--cases", "no-such-file.jsonl"), "no-such-file.jsonl: cannot be read"),
        (("Qwen/Qwen3-8B", *CARD, "--context", "99999999999"), "max_model_len"),
        (("Qwen/Qwen3-8B", *CARD, "--tp", "100000"), "tp"),
        (("Qwen/Qwen3-8B", *CARD, "--block-size", "1000000"), "block_size"),
    ],
)
def test_wrong_input_is_refused_with_what_would_be_right(arguments: Sequence[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("no/such-model", *CARD), "config.json"),
        (("Qwen/Qwen3-8B", "--card", "rtx-9999"), "rtx-"),
        (("Qwen/Qwen3-8B", *CARD, "--quantization", "fp3"), "is no number format"),
        (("Qwen/Qwen3-8B", *CARD, "--engine", "ollama"), "is no engine"),
        (("Qwen/Qwen3-8B", *CARD, "--chart", "picture.gif"), "--chart fit.svg"),
        (("Qwen/Qwen3-8B", *CARD, "--chart", "no/such/folder/picture.svg"), "does not exist"),
        (("--config", "no-such.json", *CARD), "cannot be read"),
        (("--stack", "no-such-stack"), "no-such-stack"),
    ],
)
def test_what_is_not_known_is_named_and_nothing_is_guessed(arguments: Sequence[str], said: str) -> None:
    result = run(*arguments)
    # The command's entry prints the problems and ends with 2.
    assert isinstance(result.exception, InvalidInput)
    assert said in str(result.exception)


def test_a_model_that_the_catalogue_lacks_is_read_from_its_configuration(tmp_path: Path) -> None:
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
        "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
        "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
    }  # fmt: skip
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    (found,) = answers(run("--config", str(file), *CARD, "--context", "8192", "--json"))
    assert found["weights_gib"] == pytest.approx(2.30, abs=0.05)
    assert found["verdict"] == "fits"


def test_every_case_of_a_file_is_answered_in_its_order_with_the_agreed_keys() -> None:
    cases = [{"id": str(number), "model": "Qwen/Qwen3-8B", "gpu": "RTX 4090", "tp": None} for number in range(3)]
    result = run("--cases", "-", "--json", given="\n".join(map(json.dumps, cases)) + "\n\n")
    assert result.exit_code == 0
    found = answers(result)
    assert [one["id"] for one in found] == ["0", "1", "2"]
    assert list(found[0]) == [
        "id", "verdict", "weights_gib", "kv_cache_gib", "kv_cache_tokens", "max_concurrency", "reason",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: is no JSON"),
        ("[1]", "line 2: must be one JSON object"),
        ('{"id": "b"}', "line 2: model"),
        ('{"id": "b", "model": "Qwen/Qwen3-8B", "tp": 0}', "line 2: tp"),
        ('{"id": "b", "model": "Qwen/Qwen3-8B", "gpu_memory_utilization": 90}', "line 2: gpu_memory_utilization"),
    ],
)
def test_a_line_that_is_no_case_is_named_and_the_others_are_answered(line: str, said: str) -> None:
    right = json.dumps({"id": "a", "model": "Qwen/Qwen3-8B", "gpu": "RTX 4090"})
    result = run("--cases", "-", "--json", given=f"{right}\n{line}\n{right}\n")
    assert result.exit_code == 2
    assert said in result.stderr
    assert [one["id"] for one in answers(result)] == ["a", "a"]


def test_bytes_that_are_no_text_cost_their_own_line_only(tmp_path: Path) -> None:
    right = json.dumps({"id": 7, "model": "Qwen/Qwen3-8B", "gpu": "RTX 4090"}).encode()
    (tmp_path / "cases.jsonl").write_bytes(right + b"\n\xff\xfe\x00\n" + right + b"\n")
    result = run("--cases", str(tmp_path / "cases.jsonl"), "--json")
    assert result.exit_code == 2
    assert "line 2: is no JSON" in result.stderr
    assert [one["id"] for one in answers(result)] == ["7", "7"]


def test_what_breaks_a_rule_is_not_offered_a_larger_card() -> None:
    result = run("Qwen/Qwen3-8B", *CARD, "--tp", "3")
    assert result.exit_code == 1
    assert "32 attention heads cannot be divided by tensor parallelism 3" in result.stdout
    assert "larger card" not in result.stdout
    assert "requests of" not in result.stdout


def test_a_model_that_writes_no_text_keeps_no_cache() -> None:
    result = run("BAAI/bge-m3", *CARD)
    assert result.exit_code == 0
    assert "it keeps no cache" in result.stdout
    assert "= cache" not in result.stdout


def test_a_request_longer_than_a_speech_model_writes_is_refused() -> None:
    result = run("openai/whisper-large-v3", *CARD, "--requests-per-second", "5")
    assert result.exit_code == 2
    assert "longer than the model's 448" in result.stderr


def test_a_case_of_something_unknown_is_answered_as_unknown_with_the_reason() -> None:
    case = json.dumps({"id": "a", "model": "some/unheard-of-model", "gpu": "RTX 4090"})
    result = run("--cases", "-", "--json", given=case)
    assert result.exit_code == 0
    (found,) = answers(result)
    assert (found["verdict"], found["weights_gib"]) == ("unknown", None)
    assert "config.json" in found["reason"]


def test_a_stack_is_judged_release_by_release_on_the_pool_and_its_overflow() -> None:
    result = run("--stack", "hk-prod", "--root", str(PROJECT), "--json")
    assert result.exit_code == 0, result.output
    pools = {(line["release"], line["pool"]) for line in answers(result)}
    assert {("qwen3-8b-r2", "online-a100"), ("qwen3-8b-r2", "offline-4090")} <= pools
    assert {line["verdict"] for line in answers(result)} == {"fits"}


def test_the_same_answer_comes_without_a_terminal_and_without_colour_codes() -> None:
    assert "\x1b" not in run("Qwen/Qwen3-8B", *CARD).stdout

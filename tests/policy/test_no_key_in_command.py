"""KEY-03."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import container, deployment, pod, pod_spec
from tests.policy.samples import SHAPED, URLS, WORD, some


@pytest.mark.parametrize(
    "words",
    [
        {"args": [f"--password={WORD}"]},
        {"args": ["serve", "--api-key", some(32)]},
        {"args": ["--set", f"db.password={WORD}"]},
        {"command": ["sh", "-c", f"export DB_PASSWORD={WORD} && exec app"]},
        {"command": ["git", "clone", f"https://oauth2:{some(20)}@git.example.com/a.git"]},
        {"command": ["redis-cli", "-a", WORD]},
        {"command": ["mysql", "-uroot", f"-p{WORD}"]},
        {"command": ["curl", "-u", f"admin:{WORD}", "https://example.com"]},
        {"args": ["-H", f"Authorization: Bearer {some(40)}"]},
        {"command": ["redis-server"], "args": ["--requirepass", WORD]},
        {"command": [f"DB_PASSWORD={WORD}"]},
        *({"args": [value]} for value in [*SHAPED, *URLS]),
    ],
)
def test_a_key_on_a_command_line_is_found(words: dict[str, Any]) -> None:
    assert fires("KEY-03", pod(pod_spec(containers=[container(**words)])))
    assert fires("KEY-03", deployment(pod_spec(initContainers=[container(**words)])))


@pytest.mark.parametrize(
    "words",
    [
        {"args": ["--password=$(DB_PASSWORD)", "--token-file", "/run/x", "--max-tokens", "4096"]},
        {"args": ["--api-key", "$(API_KEY)", "--tokenizer", "org/model"]},
        {"command": ["sh", "-c", 'exec app --password "$(cat /run/x)"']},
        {"args": ["--model", "org/model-7b", "--served-model-name", "chat", "--gpu-memory-utilization=0.9"]},
        {"command": ["redis-server", "--requirepass", "$(REDIS_PASSWORD)"]},
    ],
)
def test_a_clean_command_line_passes(words: dict[str, Any]) -> None:
    assert clean("KEY-03", pod(pod_spec(containers=[container(**words)])))


def test_unknown_words_are_left_to_the_update() -> None:
    assert judge("KEY-03", pod(pod_spec(containers=[container(args=["--a", UNKNOWN])]))).unjudged

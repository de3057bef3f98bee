"""A key that was pasted into a wrong place is refused, and its value is never repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lantau.problems import InvalidInput, harmless

Refusal = Callable[[Callable[[dict[str, Any]], None]], InvalidInput]

OPAQUE = "-".join(["sk", "proj", "Ab3dEf6hIj9l" * 3])
DSN = "user:Passw0rd@registry.example.internal/a/b"


@pytest.mark.parametrize("secret", [OPAQUE, DSN, "Passw0rd", "0123456789abcdef0123", "AKIA" + "Z7" * 8])
@pytest.mark.parametrize(
    "place",
    [
        lambda s, v: s.update(stage=v),
        lambda s, v: s["business"]["backend"].update(image=v),
        lambda s, v: s["business"].update(pool=v),
        lambda s, v: s["pools"]["data"].update(machine=v),
        lambda s, v: s["models"]["chat"].update(overflow=v),
        lambda s, v: s["models"]["chat"].update(stable=v),
        lambda s, v: s["secrets"].update({v: "x"}),
        lambda s, v: s["models"].update({v: {}}),
    ],
)
def test_a_secret_in_a_wrong_place_is_not_repeated(
    refusal: Refusal, place: Callable[[dict[str, Any], str], None], secret: str
) -> None:
    text = str(refusal(lambda stack: place(stack, secret)))
    assert secret not in text
    assert f"a text of {len(secret)} characters" in text


@pytest.mark.parametrize("text", ["grey", "Production", "qwen3-8b-r4", "registry.example/a/b:latest", "../x", ""])
def test_a_misspelt_word_is_shown(text: str) -> None:
    assert harmless(text)


def test_a_refused_word_is_shown_next_to_what_would_be_right(refusal: Refusal) -> None:
    (problem,) = refusal(lambda stack: stack.update(stage="Grey")).problems
    assert '(now: "Grey")' in problem.message

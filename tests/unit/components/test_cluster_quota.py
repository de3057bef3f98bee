"""How many cards a namespace may ask for, from the machines of the stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.cluster import gpu_quotas
from lantau.labels import NAMESPACE_BATCH, NAMESPACE_INFERENCE, NAMESPACES
from lantau.platform import load_platform
from lantau.stack import Stack, parse_stack

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def stack() -> Stack:
    return load_platform(ROOT, "sandbox").stack


def test_models_may_use_online_cards_and_those_shared_with_them(stack: Stack) -> None:
    assert gpu_quotas(stack)[NAMESPACE_INFERENCE] == 16 + 8


def test_jobs_may_use_offline_cards_only(stack: Stack) -> None:
    assert gpu_quotas(stack)[NAMESPACE_BATCH] == 8


def test_a_canary_or_a_promotion_leaves_the_quotas_alone(stack: Stack) -> None:
    data = stack.model_dump(mode="json", exclude_none=True)
    data["models"]["chat"] |= {"replicas": 3, "stable": "qwen3-8b-r3", "canary": None}
    assert gpu_quotas(parse_stack(data)) == gpu_quotas(stack)


def test_every_other_namespace_gets_no_cards(stack: Stack) -> None:
    quotas = gpu_quotas(stack)
    assert set(quotas) == set(NAMESPACES)
    assert {name for name, cards in quotas.items() if cards} == {NAMESPACE_INFERENCE, NAMESPACE_BATCH}

"""How many cards a namespace may ask for, from the stack and its releases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.cluster import gpu_quotas
from lantau.labels import NAMESPACE_BATCH, NAMESPACE_INFERENCE, NAMESPACES
from lantau.platform import Platform, load_platform
from lantau.stack import parse_stack

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def platform() -> Platform:
    return load_platform(ROOT, "sandbox")


def changed(platform: Platform, **changes: Any) -> Platform:
    data = platform.stack.model_dump(mode="json", exclude_none=True)
    for path, value in changes.items():
        node = data
        *parents, last = path.split("__")
        for part in parents:
            node = node[part]
        node[last] = value
    return replace(platform, stack=parse_stack(data))


def models_need(platform: Platform) -> int:
    return sum(
        replicas * platform.release(name, release).gpus
        for name, model in platform.stack.models.items()
        for release, replicas in model.replicas_by_release()
    )


def test_models_have_room_for_all_releases_and_one_more(platform: Platform) -> None:
    chat = platform.stack.models["chat"]
    largest = max(n * platform.release("chat", release).gpus for release, n in chat.replicas_by_release())
    assert gpu_quotas(platform)[NAMESPACE_INFERENCE] == models_need(platform) + largest


def test_models_get_no_more_than_the_cards_they_may_use(platform: Platform) -> None:
    full = changed(platform, models__chat__replicas=10)
    assert models_need(full) == 21
    assert gpu_quotas(full)[NAMESPACE_INFERENCE] == 24


def test_a_stack_that_asks_for_more_than_it_has_still_gets_what_it_asks_for(platform: Platform) -> None:
    assert gpu_quotas(changed(platform, models__chat__replicas=20))[NAMESPACE_INFERENCE] == 41


def test_jobs_have_room_for_a_changed_job_beside_the_old_one(platform: Platform) -> None:
    small = changed(platform, **{"batch__embed-archive__parallelism": 2})
    assert gpu_quotas(small)[NAMESPACE_BATCH] == 4
    large = changed(platform, **{"batch__embed-archive__parallelism": 6})
    assert gpu_quotas(large)[NAMESPACE_BATCH] == 8, "no more than the cards of the offline pools"


def test_namespaces_without_models_and_jobs_get_no_cards(platform: Platform) -> None:
    quotas = gpu_quotas(changed(platform, batch={}))
    assert set(quotas) == set(NAMESPACES)
    assert {name for name, cards in quotas.items() if cards} == {NAMESPACE_INFERENCE}

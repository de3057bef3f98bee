"""Pointers and weights of a served model, and the cards a platform asks for."""

from __future__ import annotations

from typing import Any

from lantau.platform import Platform
from lantau.stack import ServedModel, parse_stack


def test_weights_sum_to_a_hundred_and_a_warm_previous_gets_none() -> None:
    model = ServedModel.model_validate(
        {"pool": "p", "stable": "r2", "canary": {"release": "r3", "weight": 5}, "previous": "r1"}
    )
    assert model.weights() == {"r2": 95, "r3": 5, "r1": 0}


def test_without_a_canary_stable_gets_everything() -> None:
    assert ServedModel.model_validate({"pool": "p", "stable": "r2"}).weights() == {"r2": 100}


def test_previous_stays_as_large_as_stable_so_that_a_rollback_starts_nothing() -> None:
    model = ServedModel.model_validate({"pool": "p", "replicas": 3, "stable": "r2", "previous": "r1"})
    assert dict(model.replicas_by_release()) == {"r2": 3, "r1": 3}


def test_cards_of_stable_canary_and_previous_are_counted_together(platform: Platform) -> None:
    assert platform.cards_needed("online-a100") == 2 + 1 + 2
    assert platform.cards_free("online-a100") == 16 - 5


def test_the_fingerprint_changes_with_any_change_of_the_stack(platform: Platform, stack_data: dict[str, Any]) -> None:
    stack_data["models"]["chat"]["canary"]["weight"] = 6
    changed = Platform(platform.name, parse_stack(stack_data), platform.releases)
    assert changed.fingerprint != platform.fingerprint

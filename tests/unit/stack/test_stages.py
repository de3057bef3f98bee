"""What each stage demands: every rule fires on a stack that breaks it, and a right stack passes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lantau.problems import InvalidInput
from lantau.release import Release, read_release
from lantau.stack import Stack, load_stack, parse_stack
from lantau.stack.stages import RELEASE_RULES, RULES, every_rule, release_violations

PROJECT = Path(__file__).parents[3]
Change = Callable[[dict[str, Any]], object]

BREAKS: dict[str, tuple[str, Change, str]] = {
    "E4-inference-only": ("hk-test", lambda s: s["business"].update(pool="online-4090"), "business.pool"),
    "E5-data-nodes": ("hk-test", lambda s: s["vector"].update(pool="business"), "vector.pool"),
    "E4-two-nodes": ("hk-prod", lambda s: s["pools"]["online-a100"].update(nodes=["a"]), "models.chat.pool"),
    "E4-replicas": ("hk-prod", lambda s: s["models"]["chat"].update(replicas=1), "models.chat.replicas"),
    "A6-rollback-warm": ("hk-prod", lambda s: s["models"]["chat"].pop("previous"), "models.chat"),
    "E5-protect-data": ("hk-prod", lambda s: s.update(protect_data=False), "protect_data"),
    "E5-backup": ("hk-prod", lambda s: s["vector"].update(backup=None), "vector"),
    "E5-vector-replicas": ("hk-prod", lambda s: s["vector"].update(replicas=2), "vector.replicas"),
    "E3-queue-volume": (
        "hk-gray",
        lambda s: s["business"]["queue"].update(storage_gib=7),
        "business.queue.storage_gib",
    ),
    "C2-identities": ("hk-prod", lambda s: s["identities"].update(auditor=[]), "identities.auditor"),
    "C1-audit-archive": ("hk-prod", lambda s: s["retention"].update(archive_days=364), "retention.archive_days"),
    "E10-mainland-route": ("hk-prod", lambda s: s["network"].update(route="bgp"), "network.route"),
    "E3-internal-first": ("hk-gray", lambda s: s["rollout"].update(step="everyone"), "rollout.step"),
    "F2-audiences": ("hk-prod", lambda s: s["rollout"].update(audiences={}), "rollout.audiences.team"),
    "B4-driver-card": (
        "hk-prod",
        lambda s: s["pools"]["online-a100"].update(driver="440.33.01"),
        "pools.online-a100.driver",
    ),
    "F2-grown": ("hk-prod", lambda s: (s["rollout"].update(step="partial"), s.update(stage="growth")), "rollout.step"),
}
"""For each rule on a stack: a right stack, what breaks the rule, and where that is reported."""


def data_of(name: str) -> dict[str, Any]:
    return copy.deepcopy(load_stack(PROJECT, name).model_dump(mode="json"))


def releases_of(stack: Stack) -> dict[tuple[str, str], Release]:
    return {
        (name, release): read_release(PROJECT, name, release)
        for name, model in stack.models.items()
        for release, _ in model.replicas_by_release()
    }


def changed(name: str, change: Change) -> Stack:
    data = data_of(name)
    change(data)
    return parse_stack(data)


def test_every_rule_on_a_stack_is_broken_here() -> None:
    assert set(BREAKS) == {rule.id for rule in RULES}


@pytest.mark.parametrize("rule", sorted(BREAKS))
def test_a_stack_that_breaks_a_rule_is_refused_with_its_id_where_it_is_broken_and_the_yaml_to_write(rule: str) -> None:
    name, change, where = BREAKS[rule]
    with pytest.raises(InvalidInput) as caught:
        changed(name, change)
    found = {problem.where: problem for problem in caught.value.problems if f"[{rule}]" in problem.message}
    assert f"config.lantau:stack.{where}" in found
    assert all(problem.fix for problem in found.values())


def test_test_demands_no_more_than_one_card() -> None:
    stack = changed("hk-test", lambda data: data.update(network=None))
    assert list(release_violations(stack, releases_of(stack))) == []


@pytest.mark.parametrize("stack", ["hk-test", "hk-gray", "hk-prod", "sandbox"])
def test_the_projects_stacks_meet_their_stages_also_by_their_releases(stack: str) -> None:
    found = load_stack(PROJECT, stack)
    assert [str(violation) for violation in release_violations(found, releases_of(found))] == []


def test_growth_passes_with_what_production_has() -> None:
    changed("hk-prod", lambda data: data.update(stage="growth"))


def test_production_reports_everything_that_it_lacks_at_once() -> None:
    data = data_of("hk-test") | {"stage": "production", "protect_data": False}
    with pytest.raises(InvalidInput) as caught:
        parse_stack(data)
    rules = {problem.message.rpartition("[")[2].removesuffix("]") for problem in caught.value.problems}
    assert {"E4-two-nodes", "E4-replicas", "A6-rollback-warm", "E5-backup", "C2-identities", "F2-audiences"} <= rules


def test_a_first_release_has_nothing_to_keep_warm_and_says_so() -> None:
    stack = changed("hk-prod", lambda data: data["models"]["chat"].update(previous=None, first=True))
    assert stack.models["chat"].previous is None


def test_a_first_release_with_one_before_it_is_refused() -> None:
    with pytest.raises(InvalidInput, match="ran before"):
        changed("hk-prod", lambda data: data["models"]["chat"].update(first=True))


def test_fewer_vector_peers_pass_with_a_reason() -> None:
    reason = "searches may stop for an hour"
    assert changed("hk-prod", lambda data: data["vector"].update(replicas=1, few_replicas_because=reason))


def test_vector_peers_on_too_few_nodes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="3 peers stand on 2 nodes"):
        changed("hk-prod", lambda data: data["pools"]["data"].update(nodes=["hk-data-1", "hk-data-2"]))


def test_plain_bgp_serves_an_audience_in_hong_kong() -> None:
    assert changed("hk-prod", lambda data: data["network"].update(route="bgp", audience="hongkong"))


def test_production_without_a_line_is_asked_for_it() -> None:
    with pytest.raises(InvalidInput, match="by which line"):
        changed("hk-prod", lambda data: data.update(network=None))


def spare(replicas: int, *, overflow: str | None = None) -> list[str]:
    model = {"replicas": replicas, "overflow": overflow, "canary": None, "previous": None, "first": True}
    stack = changed("hk-prod", lambda data: data["models"]["chat"].update(model))
    return [str(violation) for violation in release_violations(stack, releases_of(stack))]


def test_pods_that_fill_all_nodes_but_one_pass() -> None:
    assert spare(8) == []


def test_pods_that_need_every_node_are_refused_with_how_many_are_left_over() -> None:
    (found,) = spare(9)
    assert "1 of 9 pods find no cards" in found
    assert "[E4-spare-node]" in found


def test_an_overflow_pool_counts_as_spare() -> None:
    assert spare(9, overflow="offline-4090") == []


def test_gray_refuses_a_model_that_serves_one_request_after_the_other() -> None:
    stack = load_stack(PROJECT, "hk-gray")
    found = releases_of(stack)
    slow = found["chat", "qwen3-8b-r2"]
    slow = slow.model_copy(update={"parameters": slow.flags.model_copy(update={"max_num_seqs": 1})})
    (violation,) = release_violations(stack, found | {("chat", "qwen3-8b-r2"): slow})
    assert "takes 2 requests at once" in str(violation)
    assert "[E3-concurrency]" in str(violation)


def with_release(stack: Stack, part: str, **fields: Any) -> list[str]:
    """Violations of the releases' rules once `part` of every release has other fields."""
    found = {
        key: release.model_copy(update={part: getattr(release, part).model_copy(update=fields)})
        for key, release in releases_of(stack).items()
    }
    return [str(violation) for violation in release_violations(stack, found)]


def test_production_refuses_weights_that_nobody_signed_and_gray_takes_them() -> None:
    refused = with_release(load_stack(PROJECT, "hk-prod"), "model", signature=None)
    assert len(refused) == 3
    assert all("[B6-signed]" in each for each in refused)
    assert with_release(load_stack(PROJECT, "hk-gray"), "model", signature=None) == []


@pytest.mark.parametrize(
    ("driver", "cuda", "refused"),
    [
        ("570.158.01", "12.9", False),
        ("525.60.13", "12.9", False),
        ("525.60.12", "12.9", True),
        ("570.158.01", "13.0", True),
        ("580.65.06", "13.1", False),
        ("595.91.07", "11.8", False),
        ("570.158.01", "99.1", False),
        (None, "13.0", False),
    ],
)
def test_an_engine_whose_cuda_the_driver_cannot_run_is_refused_with_the_driver_it_needs(
    driver: str | None, cuda: str, refused: bool
) -> None:
    stack = changed("hk-test", lambda data: data["pools"]["online-4090"].update(driver=driver))
    found = with_release(stack, "engine", cuda=cuda)
    assert any("[B4-driver-cuda]" in each for each in found) is refused
    if refused:
        assert f"the nodes of pool online-4090 have {driver}" in found[0]


def test_the_overflow_pools_driver_counts_as_well() -> None:
    stack = changed("hk-prod", lambda data: data["pools"]["offline-4090"].update(driver="525.60.13"))
    assert with_release(stack, "engine", cuda="12.9") == []
    assert len(with_release(stack, "engine", cuda="13.0")) == 3


def test_a_driver_on_nodes_without_cards_is_refused() -> None:
    with pytest.raises(InvalidInput, match="have no NVIDIA driver"):
        changed("hk-prod", lambda data: data["pools"]["data"].update(driver="570.158.01"))


@pytest.mark.parametrize("written", [570.26, "570", "latest", "570.158.01-1ubuntu1"])
def test_a_driver_that_is_no_version_is_refused(written: object) -> None:
    with pytest.raises(InvalidInput, match=r"pools\.online-4090\.driver"):
        changed("hk-test", lambda data: data["pools"]["online-4090"].update(driver=written))


def test_every_rule_has_an_id_of_its_own_a_demand_and_a_reason() -> None:
    rules = every_rule()
    assert len(rules) == len(RULES) + len(RELEASE_RULES)
    assert list(rules) == sorted(rules)
    assert all(rule.demand and rule.reason and rule.stages and rule.requirement[0].isupper() for rule in rules.values())

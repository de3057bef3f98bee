"""The pack over our own program: every stack, with no exception but its own, each of which has a reason and an end."""

import datetime as dt
from pathlib import Path

import pytest

from policies.check.config import read_configuration
from policies.check.items import Item, Program
from policies.check.run import Checker, Line
from policies.settings import DEFAULTS, overlay
from tests.scanners.rendering import plain, recorded, stacks

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = "hk-prod"
LONGEST_EXCEPTION = dt.timedelta(days=366)


def rendered(stack: str) -> list[Item]:
    """What the program registers for a stack, as the engine hands it to the pack."""
    return [
        Item(
            document=index,
            token=resource.type,
            name=resource.name,
            urn=resource.urn.replace("urn:pulumi:unit:", f"urn:pulumi:{stack}:"),
            props=plain(resource.inputs),
            protect=resource.protect,
        )
        for index, resource in enumerate(recorded(stack).resources, start=1)
    ]


def settings(stack: str) -> Path | None:
    """The pack's settings for a stack, which `make` hands to the engine."""
    path = ROOT / f"Policies.{stack}.json"
    return path if path.exists() else None


def judged(stack: str, items: list[Item], config: Path | None) -> list[Line]:
    checker = Checker(read_configuration(str(config) if config else None))
    return [*checker.judge(Program(stack, items)), *checker.after(checker.used)]


def test_settings_of_the_pack_belong_to_a_stack_that_exists() -> None:
    assert {path.name.split(".")[1] for path in ROOT.glob("Policies.*.json")} <= set(stacks())


@pytest.mark.parametrize("stack", stacks())
def test_no_stack_has_a_finding_of_any_level(stack: str) -> None:
    items = rendered(stack)
    assert len([item for item in items if item.token.startswith("kubernetes:")]) > 40
    # Exceptions that are over or excuse nothing are findings too.
    assert [line.message for line in judged(stack, items, settings(stack))] == []


@pytest.mark.parametrize("stack", stacks())
def test_exceptions_name_one_object_have_a_reason_and_end_within_a_year(stack: str) -> None:
    found = settings(stack)
    given = read_configuration(str(found)).settings if found else {}
    assert set(given) <= {"pack-settings"}, "exceptions of a single rule would escape this test"
    for each in overlay(DEFAULTS, given.get("pack-settings", {})).exceptions:
        assert not set("*?[") & set(each.resource), each
        assert len(each.reason.split()) >= 15, each
        assert each.expires - dt.date.today() <= LONGEST_EXCEPTION, each  # noqa: DTZ011 - days are enough


def test_production_is_judged_as_production() -> None:
    items = rendered(PRODUCTION)
    # Without its exceptions it has findings of a rule that is for production alone.
    assert {line.control for line in judged(PRODUCTION, items, None)} == {"AVL-01"}

"""The pack over our own program: every stack, with nothing excused."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml  # type: ignore[import-untyped]

from policies.check.load import Item, Program
from policies.check.run import Checker
from tests.unit.components.recording import record

ROOT = Path(__file__).resolve().parents[2]
STACKS = ["sandbox", "hk-test", "hk-gray", "hk-prod"]


@pytest.fixture(autouse=True)
def no_config_stays() -> Iterator[None]:
    """Configuration belongs to one test."""
    yield
    pulumi.runtime.set_all_config({})


def rendered(stack: str) -> list[Item]:
    """What the program registers for a stack, as the engine hands it to the pack."""
    config = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8"))["config"]
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    pulumi.runtime.set_all_config(texts)
    recorded = record(lambda: runpy.run_path(str(ROOT / "__main__.py"), run_name="program") and None)
    return [
        Item(
            document=index,
            token=resource.type,
            name=resource.name,
            urn=resource.urn.replace("urn:pulumi:unit:", f"urn:pulumi:{stack}:"),
            props=plain(resource.inputs),
            protect=resource.protect,
        )
        for index, resource in enumerate(recorded.resources, start=1)
    ]


def plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return value


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack_passes(stack: str) -> None:
    items = rendered(stack)
    assert len([item for item in items if item.token.startswith("kubernetes:")]) > 40
    lines = list(Checker().judge(Program(stack, items)))
    mandatory = [line.message for line in lines if line.level == "mandatory"]
    assert not mandatory, "\n".join(mandatory)

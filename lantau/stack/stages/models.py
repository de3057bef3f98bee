"""B4 and B6: what runs on the cards is signed, and its CUDA has the driver that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lantau.catalog.drivers import drivers, needed_for, older
from lantau.modelling import RuleViolation
from lantau.stack.stages.rule import EVERY, LIVE, ReleaseRule, Releases, Rule

if TYPE_CHECKING:
    from lantau.stack.model import Stack


def _signed(stack: Stack, releases: Releases) -> Iterator[RuleViolation]:
    for name, model in stack.models.items():
        for pointer, release in model.pointers():
            if releases[name, release].model.signature is None:
                yield RuleViolation(
                    ("models", name, *pointer),
                    f"{stack.stage} loads signed weights only (B6), and release {release} names no key",
                    fix="# in a new release\nmodel: { signature: awskms:///alias/<key> }   # or <key>.pub beside it",
                )


def _driver(stack: Stack, releases: Releases) -> Iterator[RuleViolation]:
    for name, model in stack.models.items():
        for pointer, release in model.pointers():
            cuda = releases[name, release].engine.cuda
            needed = needed_for(cuda) if cuda else None
            for pool in filter(None, (model.pool, model.overflow)):
                driver = stack.pools[pool].driver
                if needed and driver and older(driver, needed.minimum):
                    yield RuleViolation(
                        ("models", name, *pointer),
                        f"the engine of {release} has CUDA {cuda}, which needs driver {needed.minimum} or later, "
                        f"and the nodes of pool {pool} have {driver}",
                        fix=f'pools: {{{pool}: {{driver: "{needed.full or needed.minimum}"}}}}   # after the upgrade',
                    )


def _generation(stack: Stack) -> Iterator[RuleViolation]:
    for name, pool in stack.pools.items():
        card = pool.hardware.gpu
        known = drivers().generations.get(card.architecture) if card else None
        if card and known and pool.driver and older(pool.driver, known.driver):
            yield RuleViolation(
                ("pools", name, "driver"),
                f"driver {pool.driver} does not know {pool.hardware.card}: cards of its generation need "
                f"{known.driver} or later",
                fix=f'driver: "{known.driver}"   # after the upgrade',
            )


RULES = (
    Rule(
        "B4-driver-card",
        EVERY,
        "The driver of a pool, where it is named, knows the pool's cards.",
        "An older driver does not see the card, and its node offers none.",
        _generation,
    ),
)
RELEASE_RULES = (
    ReleaseRule(
        "B4-driver-cuda",
        EVERY,
        "The driver of a pool, where it is named, runs the CUDA of the engines that are sent there.",
        "An engine whose CUDA is newer than its driver allows ends at start, on every node at once.",
        _driver,
    ),
    ReleaseRule(
        "B6-signed",
        LIVE,
        "Every release that runs names the key that its weights are signed with.",
        "Whoever can write to the registry could otherwise change what users talk to.",
        _signed,
    ),
)

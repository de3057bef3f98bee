"""What every unit test starts from."""

from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(autouse=True)
def usable_event_loop() -> None:
    """An open event loop for this thread, as Pulumi expects one; the test before may have closed it."""
    policy = asyncio.get_event_loop_policy()
    try:
        usable = not policy.get_event_loop().is_closed()
    except RuntimeError:
        usable = False
    if not usable:
        policy.set_event_loop(asyncio.new_event_loop())

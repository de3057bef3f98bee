"""Engines as gateways, probes, planners and dashboards see them, by version."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from pydantic import Field

from lantau.catalog.loading import data
from lantau.modelling import Frozen


class EngineFacts(Frozen):
    """One engine."""

    port: int = Field(ge=1, le=65535)
    """Port that it listens on by default."""
    health: str | None
    """Route that answers once it can serve; null without one."""
    metrics: str | None
    """Route of its metrics in Prometheus' text format; null without them."""
    utilisation: dict[str, float]
    """Share of a card's memory that it takes by default, by the version from which that holds."""
    flags: dict[str, str]
    """Version from which a flag exists, for flags that are not in every version in use."""
    series: dict[str, str]
    """Names of metrics by what they tell."""
    gone: tuple[str, ...]
    """Names of metrics that it had and that answer nothing today."""
    legacy: str | None = None
    """Why it should not be chosen any more."""
    source: str
    """Where the facts come from."""

    def utilisation_at(self, version: tuple[int, ...] | None) -> float:
        """Default share at a version; that of the oldest where the version is not known."""
        shares = sorted((parts(since), share) for since, share in self.utilisation.items())
        if version is None:
            return shares[0][1]
        return next(share for since, share in reversed(shares) if version >= since)

    def has(self, flag: str, version: tuple[int, ...]) -> bool:
        """Whether a version knows a flag."""
        return version >= parts(self.flags.get(flag, "0.0.0"))


def parts(version: str) -> tuple[int, ...]:
    """Numbers of a version such as 0.19.0."""
    return tuple(int(part) for part in version.split("."))


@cache
def engines() -> Mapping[str, EngineFacts]:
    """Every engine by its kind."""
    found = {name: EngineFacts.model_validate(value) for name, value in data("engines.yaml")["engines"].items()}
    return MappingProxyType(found)

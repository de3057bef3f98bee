"""Which driver a version of CUDA, or a generation of cards, needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from lantau.catalog.loading import data
from lantau.modelling import Frozen

DriverVersion = Annotated[
    str, StringConstraints(pattern=r"^[0-9]{3}\.[0-9]{1,3}(\.[0-9]{1,3})?$"), Field(examples=['"570.158.01"'])
]
CudaVersion = Annotated[str, StringConstraints(pattern=r"^[0-9]{2}\.[0-9]{1,2}$"), Field(examples=['"12.8"'])]


class _Known(Frozen):
    driver: DriverVersion
    source: str


class _Major(Frozen):
    minimum: DriverVersion
    source: str


class Drivers(Frozen):
    """The table of drivers."""

    majors: Mapping[str, _Major]
    """By major version of CUDA: the oldest driver on which any toolkit of it runs."""
    toolkits: Mapping[str, _Known]
    """By version of CUDA: the driver that came with it."""
    generations: Mapping[str, _Known]
    """By generation of cards: the first driver that knows them."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a version of CUDA needs of the driver."""

    minimum: str
    """Below it nothing runs."""
    full: str | None
    """From it on everything runs; None for a toolkit that the table lacks."""


@cache
def drivers() -> Drivers:
    """The table."""
    content: dict[str, Any] = data("drivers.yaml")
    return Drivers.model_validate({key: MappingProxyType(value) for key, value in content.items()})


def needed_for(cuda: str) -> Needed | None:
    """What `cuda`, such as 12.8, needs; None for a major version that the table lacks."""
    major = drivers().majors.get(cuda.partition(".")[0])
    if major is None:
        return None
    toolkit = drivers().toolkits.get(cuda)
    return Needed(major.minimum, toolkit.driver if toolkit else None)


def older(version: str, than: str) -> bool:
    """Whether a driver is older than another; parts are compared as numbers."""
    return _parts(version) < _parts(than)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))

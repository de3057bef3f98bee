"""The figures of one moment, from Prometheus or from a file that was saved before."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, field_validator

from lantau.diagnose.signals import SIGNALS
from lantau.modelling import Frozen
from lantau.problems import InvalidInput, Problem, nearest

WINDOW = r"^[1-9][0-9]{0,3}(m|h|d)$"

Values = dict[str, Annotated[float, Field(allow_inf_nan=False)]]


class Snapshot(Frozen):
    """Figures by signal and group (a model, a pod, a city, or the empty text for the whole platform)."""

    taken: datetime = Field(description="Moment of the figures, with its time zone.")
    window: str = Field(pattern=WINDOW, description="Time before it that they are of, such as 15m.")
    values: dict[str, Values] = Field(description="Figures by signal, then by group; a signal without any is missing.")

    @field_validator("values")
    @classmethod
    def _known(cls, values: dict[str, Values]) -> dict[str, Values]:
        for name in values:
            if name not in SIGNALS:
                raise ValueError(f"there is no signal {name[:40]!r}. {nearest(name, list(SIGNALS))}")
        return values

    def of(self, signal: str) -> Mapping[str, float]:
        """Figures of a signal by group; empty when it is missing."""
        return self.values.get(signal, {})

    @property
    def missing(self) -> list[str]:
        """Signals without any figure, in the order of the table."""
        return [name for name in SIGNALS if not self.values.get(name)]


def load_snapshot(path: Path) -> Snapshot:
    """The snapshot in a file; raises InvalidInput with what is wrong in it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise _wrong(path, "is no JSON; lantau diagnose --save FILE writes such a file") from None
    if not isinstance(content, dict):
        raise _wrong(path, "must hold one object, as lantau diagnose --save FILE writes it")
    try:
        return Snapshot.model_validate(content)
    except ValidationError as error:
        raise InvalidInput(
            Problem(".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, "), file=str(path))
            for each in error.errors(include_url=False, include_input=False)
        ) from None


def save_snapshot(path: Path, snapshot: Snapshot) -> None:
    """Write a snapshot whole or not at all; raises InvalidInput."""
    values = {name: {group: _short(value) for group, value in by.items()} for name, by in snapshot.values.items()}
    content = {"taken": snapshot.taken.isoformat(), "window": snapshot.window, "values": values}
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=2)
                file.write("\n")
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _wrong(path, f"cannot be written: {error.strerror}") from None


def _short(value: float) -> float:
    """Six digits that count: what a histogram tells is no finer."""
    return value if value == 0 else round(value, 5 - math.floor(math.log10(abs(value))))


def _wrong(path: Path, message: str) -> InvalidInput:
    return InvalidInput([Problem("", message, file=str(path))])

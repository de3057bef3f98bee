"""What a kind of resource must answer, in plain Python."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from pulumi.provider.experimental.provider import CheckFailure

from provider.values import Plain


class Change(Enum):
    """How one property differs."""

    UPDATE = "update"
    REPLACE = "replace"


@dataclass(frozen=True)
class Differences:
    """Property name to change; empty when nothing differs."""

    changes: Mapping[str, Change] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """A resource as it stands in the world."""

    id: str
    outputs: Plain
    inputs: Plain


class Say:
    """Tells the user something beside the result; `sink` gets (severity, message, urn)."""

    def __init__(self, sink: Callable[[str, str, str], None] | None = None, urn: str = "") -> None:
        self._sink = sink
        self._urn = urn

    def warning(self, message: str) -> None:
        """A line that the user should see."""
        if self._sink is not None:
            self._sink("warning", message, self._urn)

    def info(self, message: str) -> None:
        """A line for those who look."""
        if self._sink is not None:
            self._sink("info", message, self._urn)


class ResourceKind(ABC):
    """One type of resource. Methods other than check, diff and the previews may block and may raise ProviderError."""

    token: str

    @abstractmethod
    def check(self, urn: str, olds: Plain, news: Plain) -> tuple[Plain, list[CheckFailure]]:
        """Inputs with defaults filled in, and failures. `olds` is empty for a new resource."""

    @abstractmethod
    def diff(self, state: Plain, news: Plain) -> Differences:
        """What would change between the recorded outputs and checked inputs; asks nobody."""

    @abstractmethod
    def preview_create(self, news: Plain) -> Plain:
        """Outputs as far as they are known before the resource exists; asks nobody."""

    @abstractmethod
    def preview_update(self, state: Plain, news: Plain) -> Plain:
        """Outputs as far as they are known before an update; asks nobody."""

    @abstractmethod
    def create(self, news: Plain, say: Say) -> State:
        """Make it, or adopt what an interrupted run made."""

    @abstractmethod
    def read(self, resource_id: str, state: Plain, inputs: Plain, say: Say) -> State | None:
        """As it stands in the world; None when it is gone. Empty `inputs` mean an import."""

    @abstractmethod
    def update(self, resource_id: str, state: Plain, news: Plain, say: Say) -> Plain:
        """Bring it to the new inputs; gives the new outputs."""

    @abstractmethod
    def delete(self, resource_id: str, state: Plain, say: Say) -> None:
        """Remove it; being gone already is success."""


def new_holder() -> str:
    """A mark for what one `create` made or adopted, 16 hexadecimal digits.

    It is written beside the object and into state. When a resource is renamed or gets another provider, the engine
    creates the new one, which adopts the object, and then deletes the old one: by the mark the old one sees that the
    object is not its own any more.
    """
    return secrets.token_hex(8)


class Claims:
    """Which URN declared what in this process: two resources over one object would undo each other's work."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}

    def other_owner(self, what: str, urn: str) -> str | None:
        """Claim `what` for a URN; the logical name of the resource that claimed it before, if another did."""
        owner = self._owners.setdefault(what, urn)
        return None if owner == urn else owner.rsplit("::", 1)[-1]

"""Node pools: named machines that do one kind of work."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from lantau.catalog import Machine, machines
from lantau.catalog.drivers import DriverVersion
from lantau.modelling import Frozen, RuleViolation
from lantau.problems import bare, nearest, shown

NodeName = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253), Field(examples=["gpu-a100-1"])
]


class Role(StrEnum):
    """The kind of work that a pool's nodes do, and nothing else runs there."""

    BUSINESS = "business"
    DATA = "data"
    ONLINE = "online"
    OFFLINE = "offline"

    @property
    def gpu(self) -> bool:
        """Whether nodes of this role carry cards."""
        return self in (Role.ONLINE, Role.OFFLINE)

    @property
    def tainted(self) -> bool:
        """Whether nodes of this role are closed to pods that do not ask for them.

        Business nodes stay open: the cluster's add-ons need somewhere to run.
        """
        return self is not Role.BUSINESS


class Pool(Frozen):
    """Nodes of one machine class and one role. The nodes exist already: this is bare metal."""

    role: Role = Field(examples=["online"])
    """What the nodes do: business, data, online (inference) or offline (batch)."""
    machine: str = Field(examples=["a100-80g-x8"])
    """Machine class of the nodes, a name of the catalogue."""
    nodes: tuple[NodeName, ...] = Field(min_length=1, examples=["[gpu-a100-1, gpu-a100-2]"])
    """Kubernetes names of the nodes; a node is in one pool only."""
    driver: DriverVersion | None = None
    """NVIDIA driver of the nodes, as nvidia-smi prints it; releases whose CUDA it cannot run are refused."""
    shared_with_online: bool = False
    """Offline pools only: models may overflow onto these cards, where they preempt batch work."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        known = machines()
        if self.machine not in known:
            raise RuleViolation(
                ("machine",),
                f"{shown(self.machine)} is no machine class of the catalogue. {nearest(self.machine, list(known))}",
            )
        if len(set(self.nodes)) != len(self.nodes):
            twice = sorted({node for node in self.nodes if self.nodes.count(node) > 1})
            raise RuleViolation(("nodes",), f"these nodes are named twice: {', '.join(map(bare, twice))}")
        if self.role.gpu and not self.hardware.cards:
            gpu = sorted(name for name, machine in known.items() if machine.cards)
            raise RuleViolation(
                ("machine",),
                f"an {self.role} pool needs machines with cards, and {self.machine} has none",
                fix=f"machine: {gpu[0]}   # or {', '.join(gpu[1:])}",
            )
        if self.driver and not self.role.gpu:
            raise RuleViolation(("driver",), f"{self.machine} has no cards, so its nodes have no NVIDIA driver")
        if not self.role.gpu and self.hardware.cards:
            raise RuleViolation(
                ("machine",),
                f"{self.machine} carries cards, so its nodes do inference or batch only, not {self.role} work",
            )
        if self.shared_with_online and self.role is not Role.OFFLINE:
            raise RuleViolation(("shared_with_online",), "only an offline pool can be shared with online models")
        return self

    @property
    def hardware(self) -> Machine:
        """The machine class of the nodes."""
        return machines()[self.machine]

    @property
    def cards(self) -> int:
        """Cards in the whole pool."""
        return self.hardware.cards * len(self.nodes)

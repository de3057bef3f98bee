"""The way from the users to Hong Kong."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lantau.modelling import Frozen


class Route(StrEnum):
    """Carrier route between Hong Kong and the mainland."""

    CN2 = "cn2"
    UNICOM_9929 = "9929"
    CMIN2 = "cmin2"
    BGP = "bgp"

    @property
    def direct(self) -> bool:
        """Whether the carrier keeps the route apart from its ordinary international traffic, also in the evening."""
        return self is not Route.BGP


class Audience(StrEnum):
    """Where most users sit."""

    MAINLAND = "mainland"
    HONGKONG = "hongkong"
    OVERSEAS = "overseas"


class Network(Frozen):
    """The line of the business servers."""

    route: Route = Field(examples=["cn2"])
    """cn2 (China Telecom), "9929" (China Unicom; in quotes), cmin2 (China Mobile), or bgp: plain international."""
    bandwidth_mbps: int = Field(ge=1, le=400_000, examples=[100])
    """Bandwidth of the line, Mbit/s."""
    audience: Audience = Field(examples=["mainland"])
    """Where most users sit: mainland, hongkong or overseas."""

"""How long records of who did what are kept."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from lantau.audit.flags import HOT_DAYS
from lantau.modelling import Frozen, RuleViolation


class Retention(Frozen):
    """Days that audit events are kept."""

    audit_days: int = Field(default=HOT_DAYS, ge=HOT_DAYS, le=3650, examples=[HOT_DAYS])
    """Days that events stay at hand on the control-plane nodes: --audit-log-maxage of the API server."""
    archive_days: int | None = Field(default=None, ge=1, le=36_500, examples=[365])
    """Days that events stay in the archive; no archive when left out."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if self.archive_days is not None and self.archive_days < self.audit_days:
            raise RuleViolation(
                ("archive_days",),
                f"{self.archive_days} is less than the {self.audit_days} days at hand: the archive keeps the longest",
                fix=f"archive_days: {max(365, self.audit_days)}",
            )
        return self

"""The one error that ends a workflow."""

from __future__ import annotations

from workflow.events import Outcome


class WorkflowError(Exception):
    """Something a person has to know or do; its text is all they see. `outcome` is what Pulumi did until then."""

    def __init__(self, message: str, outcome: Outcome | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome or Outcome()

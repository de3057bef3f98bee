"""What every component has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pulumi


class Component(pulumi.ComponentResource):
    """Base of the tiers: one token, children below it, outputs always registered.

    A subclass sets `TOKEN` (`lantau:<package>:<Type>`), makes its resources with `opts=self.child(...)`, keeps what
    neighbours and tests need in typed attributes, and ends with `self.finish({...})`.
    """

    TOKEN: ClassVar[str]

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.TOKEN, name, None, opts)

    def child(
        self,
        *,
        depends_on: list[pulumi.Resource] | None = None,
        protect: bool | None = None,
        retain_on_delete: bool | None = None,
        delete_before_replace: bool | None = None,
        ignore_changes: list[str] | None = None,
        timeout: str | None = None,
    ) -> pulumi.ResourceOptions:
        """Options of a child. Provider and protection come down from the parent by Pulumi's own rules.

        `timeout` (such as "30m") bounds create, update and delete.
        """
        timeouts = pulumi.CustomTimeouts(create=timeout, update=timeout, delete=timeout) if timeout else None
        return pulumi.ResourceOptions(
            parent=self,
            depends_on=depends_on,
            protect=protect,
            retain_on_delete=retain_on_delete,
            delete_before_replace=delete_before_replace,
            ignore_changes=ignore_changes,
            custom_timeouts=timeouts,
        )

    def finish(self, outputs: Mapping[str, Any]) -> None:
        """Register the outputs; the component is complete and can be depended on."""
        self.register_outputs(dict(outputs))

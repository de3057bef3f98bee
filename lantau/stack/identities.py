"""Who may do what: groups of the organisation's identity provider by role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from lantau.modelling import Frozen, RuleViolation
from lantau.problems import shown

Group = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9]([\w.:@/-]*[A-Za-z0-9])?$", max_length=128),
    Field(examples=["oidc:ai-platform"]),
]
"""A group as the API server sees it, with the prefix that it puts before groups of the identity provider."""
Groups = Annotated[tuple[Group, ...], Field(max_length=20, examples=["[oidc:ai-platform]"])]

ROLES = ("platform_admin", "model_engineer", "release_manager", "auditor", "on_call")
BUILT_IN = "system:"
"""Groups with this prefix are the cluster's own: system:masters, system:authenticated …"""


class Identities(Frozen):
    """Groups by role. Nobody is bound where a role is left out."""

    platform_admin: Groups = ()
    """See everything that runs, its records and rights, restart and evict pods; no secrets, and no cluster-admin."""
    model_engineer: Groups = ()
    """See models, their pods and logs."""
    release_manager: Groups = ()
    """Move a model's weights between its releases and scale them."""
    auditor: Groups = ()
    """Read release records, audit settings and rights; nothing else."""
    on_call: Groups = ()
    """See everything that runs, and restart pods."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        for role, groups in self.bound():
            for place, group in enumerate(groups):
                if group.startswith(BUILT_IN):
                    raise RuleViolation(
                        (role, place),
                        f"{shown(group)} is a group of the cluster itself: name a group of the identity provider",
                        fix=f"{role}: [oidc:<group>]",
                    )
        both = sorted(set(self.auditor) & {*self.platform_admin, *self.release_manager})
        if both:
            raise RuleViolation(
                ("auditor",),
                f"{shown(both[0])} would audit itself: it also deploys or releases",
                fix="auditor: [oidc:<a group of other people>]",
            )
        return self

    def bound(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each role that somebody has, with its groups."""
        for role, groups in (
            ("platform_admin", self.platform_admin),
            ("model_engineer", self.model_engineer),
            ("release_manager", self.release_manager),
            ("auditor", self.auditor),
            ("on_call", self.on_call),
        ):
            if groups:
                yield role, groups

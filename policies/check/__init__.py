"""The rules over manifests and exported stacks, without an engine: what `lantau policy-check` runs."""

from policies.check.command import run

__all__ = ["run"]

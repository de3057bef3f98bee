"""The rules over manifests and exported stacks, without an engine."""

from policies.check.command import policy_check_command

__all__ = ["policy_check_command"]

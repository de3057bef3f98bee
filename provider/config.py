"""Configuration of the provider: where to act, never with what credentials."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi.provider.experimental.provider import CheckFailure

from provider.inputs import Inputs
from provider.values import Plain, Unknown

REGION_PATTERN = r"[a-z]{2}(-[a-z]+)+-\d"
STACK_PATTERN = r"[A-Za-z0-9_.-]{1,100}"
ENGINE_KEYS = ("version", "pluginDownloadURL")


@dataclass(frozen=True)
class ProviderConfig:
    """What `configure` was given. Credentials come from the environment of whoever runs the program."""

    region: str | None = None
    """AWS region of the managed store; None leaves it to the ambient chain."""
    context: str | None = None
    """Kubeconfig context; the current context is never used in its place."""
    stack: str | None = None
    """Name of the stack that owns what is made; part of every secret's name."""


def check_config(values: Plain) -> list[CheckFailure]:
    """Failures in the provider's inputs."""
    inputs = Inputs(values)
    inputs.only(("region", "context", "stack", *ENGINE_KEYS))
    if "region" in values:
        inputs.text("region", pattern=REGION_PATTERN, rule="an AWS region such as ap-east-1")
    if "context" in values:
        inputs.text("context", pattern=r"\S(.*\S)?", rule="the name of a context in the kubeconfig")
    if "stack" in values:
        inputs.text("stack", pattern=STACK_PATTERN, rule="letters, digits, dots, underscores and dashes")
    return inputs.failures


def read_config(values: Plain) -> ProviderConfig:
    """The configuration from checked inputs; a value that is still unknown counts as not given."""

    def known(name: str) -> str | None:
        value = values.get(name)
        return None if value is None or isinstance(value, Unknown) else str(value)

    return ProviderConfig(known("region"), known("context"), known("stack"))

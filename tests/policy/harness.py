"""Runs one rule the way the SDK's analyzer does: through its deserialiser and its unknown-checking proxies."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pulumi_policy import (
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from policies.engine.rule import Rule
from policies.pack import rules

UNKNOWN = UNKNOWN_STRING_VALUE
Manifest = Mapping[str, Any]


@dataclass
class Outcome:
    """What one rule said about one program."""

    messages: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Nothing found and nothing left open."""
        return not self.messages and not self.unjudged

    @property
    def paths(self) -> list[str]:
        """Paths of the findings."""
        return [message.finding.path for message in self.messages]  # type: ignore[attr-defined]


@cache
def _by_control() -> dict[str, Rule]:
    return {rule.control: rule for rule in rules()}


def rule(control: str) -> Rule:
    """The rule of a control."""
    return _by_control()[control]


def token_of(manifest: Manifest) -> str:
    """Type token that pulumi-kubernetes gives an object; other documents have none."""
    if "apiVersion" not in manifest and "version" in manifest:
        return ""
    version = str(manifest.get("apiVersion", "v1"))
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest.get('kind', 'Pod')}"


def floats(value: Any) -> Any:
    """Numbers as protobuf carries them."""
    if isinstance(value, Mapping):
        return {key: floats(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [floats(member) for member in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def proxied(manifest: Manifest) -> Any:
    """Properties as a policy gets them."""
    return unknown_checking_proxy(deserialize_properties(floats(manifest)))


def options(*, protect: bool = False) -> PolicyResourceOptions:
    """Resource options as the analyzer builds them."""
    return PolicyResourceOptions(protect, [], None, [], PolicyCustomTimeouts(0, 0, 0), [])


@contextmanager
def _judged_later(outcome: Outcome) -> Iterator[None]:
    try:
        yield
    except UnknownValueError as error:
        outcome.unjudged.append(error.message)


def judge(
    control: str,
    *manifests: Manifest,
    config: Mapping[str, Any] | None = None,
    token: str | None = None,
    protect: bool = False,
) -> Outcome:
    """Run the rule of a control over a program of these resources."""
    policy = rule(control).policy()
    outcome = Outcome()

    def report(message: str, urn: str | None = None) -> None:
        del urn
        assert isinstance(message, str)
        outcome.messages.append(message)

    if isinstance(policy, StackValidationPolicy):
        with _judged_later(outcome):
            policy.validate(StackValidationArgs(_stack(manifests, protect=protect), config), report)
        return outcome
    assert isinstance(policy, ResourceValidationPolicy)
    for index, manifest in enumerate(manifests):
        args = ResourceValidationArgs(
            token_of(manifest) if token is None else token,
            proxied(manifest),
            f"urn:{index}",
            f"resource-{index}",
            options(protect=protect),
            None,
            config,
        )
        with _judged_later(outcome):
            policy.validate(args, report)
    return outcome


def _stack(manifests: Sequence[Manifest], *, protect: bool) -> list[PolicyResource]:
    return [
        PolicyResource(
            token_of(manifest),
            proxied(manifest),
            f"urn:{index}",
            f"resource-{index}",
            options(protect=protect),
            None,
            None,
            [],
            {},
        )
        for index, manifest in enumerate(manifests)
    ]


def fires(control: str, *manifests: Manifest, **named: Any) -> bool:
    """Whether the rule of a control finds something; its own failure is no finding."""
    messages = judge(control, *manifests, **named).messages
    assert not [message for message in messages if "the rule itself failed" in message], messages
    return bool(messages)


def clean(control: str, *manifests: Manifest, **named: Any) -> bool:
    """Whether the rule of a control finds nothing and leaves nothing open."""
    return judge(control, *manifests, **named).clean

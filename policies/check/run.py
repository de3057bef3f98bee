"""Runs the rules over a program through the SDK's own types, as its analyzer does."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.proxy import UnknownValueError, unknown_checking_proxy

from policies.check.config import Configuration
from policies.check.items import Item, Program
from policies.detect.shapes import redacted
from policies.engine import state
from policies.engine.rule import Message, Rule
from policies.model.resource import Resource
from policies.pack import rules
from policies.settings import DEFAULTS, Exemption, overlay

FIELDS: Final = ("file", "document", "kind", "name", "policy", "control", "level", "severity", "message", "path")

# They speak of a whole run, not of one of its files.
_OF_THE_RUN: Final = ("pack-exceptions-current", "pack-exceptions-used")


@dataclass(frozen=True, slots=True)
class Line:
    """One finding. `text` is the message without object, path and remedy."""

    file: str
    document: int
    kind: str
    name: str
    policy: str
    control: str
    level: str
    severity: str
    message: str
    path: str
    text: str = ""

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints, in this order."""
        return {name: getattr(self, name) for name in FIELDS}


class Checker:
    """The pack's policies, ready to judge one program after the other.

    `used` gathers the exceptions that excused something; `objects` counts what was judged.
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.configuration = configuration or Configuration()
        self.used: set[Exemption] = set()
        self.objects = 0
        self.of_resources: list[tuple[Rule, Policy]] = []
        self.of_stacks: list[tuple[Rule, Policy]] = []
        self.of_runs: list[tuple[Rule, Policy]] = []
        for rule in rules():
            if self.level(rule) is not EnforcementLevel.DISABLED:
                policy = rule.policy()
                if rule.name in _OF_THE_RUN:
                    self.of_runs.append((rule, policy))
                elif isinstance(policy, ResourceValidationPolicy):
                    self.of_resources.append((rule, policy))
                elif isinstance(policy, StackValidationPolicy):
                    self.of_stacks.append((rule, policy))

    def level(self, rule: Rule) -> EnforcementLevel:
        """Level in force for a rule."""
        level = self.configuration.levels.get(rule.name, rule.level)
        return EnforcementLevel.MANDATORY if level is EnforcementLevel.REMEDIATE else level

    def judge(self, program: Program) -> Iterator[Line]:
        """Findings of one program."""
        state.reset()
        known: dict[int, Resource] = {}
        state.remember(known)
        try:
            yield from self._judge(program, known)
        finally:
            state.remember(None)
            self.used |= state.PACK.used

    def _judge(self, program: Program, known: dict[int, Resource]) -> Iterator[Line]:
        places: dict[str, Item] = {}
        resources: list[PolicyResource] = []
        for item in program.items:
            opts = PolicyResourceOptions(item.protect, [], None, [], PolicyCustomTimeouts(0, 0, 0), [])
            # What is judged is kept as the rules read it; the properties themselves go, so that memory stays small.
            place = places[item.urn] = replace(item, props={}, outputs=None)
            try:
                props = _proxied(item.props)
                resource = state.resource_for(_arguments(item, props, opts, None))
                outcome = _proxied(item.outputs) if item.outputs is not None else props
            except (AssertionError, TypeError, RecursionError):
                program.partial = True
                told = "is nested too deep, or holds an asset that says neither path, text nor uri"
                program.problems.append(f"{program.file}: document {item.document} {told}")
                continue
            for rule, policy in self.of_resources:
                args = _arguments(item, props, opts, self.configuration.settings.get(rule.name))
                yield from self._run(program.file, rule, policy, args, {}, place)
            known.pop(id(props), None)
            if outcome is not props:
                resource = state.resource_for(_arguments(item, outcome, opts, None))
                known.pop(id(outcome), None)
            known[id(place.props)] = resource
            resources.append(PolicyResource(item.token, place.props, item.urn, item.name, opts, None, None, [], {}))
            self.objects += max(1, len(resource.objects))
        if program.partial:
            return
        for rule, policy in self.of_stacks:
            whole = StackValidationArgs(resources, self.configuration.settings.get(rule.name))
            yield from self._run(program.file, rule, policy, whole, places, None)

    def after(self, used: Iterable[Exemption]) -> Iterator[Line]:
        """Findings about a whole run, once every file was judged and `used` were the exceptions that it needed."""
        if not any(settings.get("exceptions") for settings in self.configuration.settings.values()):
            return
        state.reset()
        state.PACK.settings = overlay(DEFAULTS, self.configuration.settings.get("pack-settings", {}))
        state.PACK.used = set(used)
        for rule, policy in self.of_runs:
            args = StackValidationArgs([], self.configuration.settings.get(rule.name))
            yield from self._run(self.configuration.file, rule, policy, args, {}, None)
        state.reset()

    def _run(
        self, file: str, rule: Rule, policy: Any, args: Any, items: Mapping[str, Item], own: Item | None
    ) -> list[Line]:
        lines: list[Line] = []

        def report(message: str, urn: str | None = None) -> None:
            lines.append(self._line(file, rule, self.level(rule), message, own or items.get(urn or "")))

        checked: ReportViolation = report
        try:
            policy.validate(args, checked)
        except UnknownValueError as error:
            lines.append(self._line(file, rule, EnforcementLevel.ADVISORY, error.message, own))
        return lines

    def _line(self, file: str, rule: Rule, level: EnforcementLevel, message: str, item: Item | None) -> Line:
        finding = message.finding if isinstance(message, Message) else None
        obj = finding.obj if finding is not None else None
        kind = item.token.rpartition(":")[2] if item is not None else ""
        return Line(
            file=file,
            document=item.document if item is not None else 1,
            kind=redacted(obj.kind if obj is not None else kind),
            name=redacted((obj.name if obj is not None else "") or (item.name if item is not None else "")),
            policy=rule.name,
            control=rule.control,
            level=level.value,
            severity=rule.severity.value,
            message=str(message),
            path=redacted(finding.path) if finding is not None else "",
            text=redacted(finding.text) if finding is not None else str(message),
        )


def _arguments(item: Item, props: Any, opts: PolicyResourceOptions, config: Any) -> ResourceValidationArgs:
    return ResourceValidationArgs(item.token, props, item.urn, item.name, opts, None, config)


def _proxied(props: Mapping[str, Any]) -> Any:
    return unknown_checking_proxy(deserialize_properties(_floats(props)))


def _floats(value: Any) -> Any:
    """Numbers as the engine's messages carry them."""
    if isinstance(value, dict):
        return {key: _floats(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_floats(member) for member in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < 2**1000 else str(value)
    return value

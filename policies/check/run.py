"""Runs the rules over a program through the SDK's own types, as its analyzer does."""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
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

from policies.check.load import InputError, Item, Program
from policies.detect.shapes import redacted
from policies.engine import state
from policies.engine.rule import Message, Rule
from policies.model.documents import DocumentError, yaml_documents
from policies.pack import rules
from policies.settings import DEFAULTS, SettingsError, overlay

_LEVELS: Final = {level.value: level for level in EnforcementLevel}


@dataclass(frozen=True, slots=True)
class Line:
    """One finding as `policy-check` prints it."""

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

    def as_dict(self) -> dict[str, Any]:
        """Fields in the order of the documentation."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass
class Configuration:
    """Levels and settings by policy, in the form `pulumi --policy-pack-config` takes."""

    levels: dict[str, EnforcementLevel] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_configuration(path: str | None) -> Configuration:
    """Configuration out of a JSON or YAML file; raises InputError."""
    if path is None:
        return Configuration()
    try:
        documents = list(yaml_documents(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, DocumentError):
        raise InputError(f"{path}: cannot be read as JSON or YAML") from None
    body = documents[0] if documents else {}
    if not isinstance(body, dict):
        raise InputError(f"{path}: must be a mapping from policy names to settings")
    return _configuration(path, body)


def _configuration(path: str, body: Mapping[str, Any]) -> Configuration:
    names = {rule.name for rule in rules()}
    found = Configuration()
    for name, value in body.items():
        if name != "all" and name not in names:
            near = difflib.get_close_matches(str(name), names, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InputError(f"{path}: {name} is no policy of this pack{hint}")
        entry = {"enforcementLevel": value} if isinstance(value, str) else value
        if not isinstance(entry, dict):
            raise InputError(f"{path}: {name} must be a level or a mapping")
        own = {key: member for key, member in entry.items() if key != "enforcementLevel"}
        if "enforcementLevel" in entry:
            level = _LEVELS.get(str(entry["enforcementLevel"]))
            if level is None:
                raise InputError(f"{path}: {name}.enforcementLevel must be one of {', '.join(_LEVELS)}")
            for each in names if name == "all" else (name,):
                if name != "all" or each not in found.levels:
                    found.levels[each] = level
        if own and name != "all":
            try:
                overlay(DEFAULTS, own)
            except SettingsError as error:
                raise InputError(f"{path}: {name}: {error}") from None
            found.settings[name] = json.loads(json.dumps(own, default=str))
    return found


class Checker:
    """The pack's policies, ready to judge one program after the other."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.configuration = configuration or Configuration()
        self.rules: list[tuple[Rule, Policy]] = []
        for rule in rules():
            if self.level(rule) is not EnforcementLevel.DISABLED:
                self.rules.append((rule, rule.policy()))

    def level(self, rule: Rule) -> EnforcementLevel:
        """Level in force for a rule."""
        level = self.configuration.levels.get(rule.name, rule.level)
        return EnforcementLevel.MANDATORY if level is EnforcementLevel.REMEDIATE else level

    def judge(self, program: Program) -> Iterator[Line]:
        """Findings of one program."""
        state.reset()
        state.remember({})
        try:
            yield from self._judge(program)
        finally:
            state.remember(None)

    def _judge(self, program: Program) -> Iterator[Line]:
        by_urn = {item.urn: item for item in program.items}
        resources: list[PolicyResource] = []
        for item in program.items:
            opts = _options(item)
            props = _proxied(item.props)
            for rule, policy in self.rules:
                if isinstance(policy, ResourceValidationPolicy):
                    config = self.configuration.settings.get(rule.name)
                    args = ResourceValidationArgs(item.token, props, item.urn, item.name, opts, None, config)
                    yield from self._run(program, rule, policy, args, {item.urn: item}, item)
            seen = props if item.outputs is None else _proxied(item.outputs)
            resources.append(PolicyResource(item.token, seen, item.urn, item.name, opts, None, None, [], {}))
        for rule, policy in self.rules:
            if isinstance(policy, StackValidationPolicy):
                whole = StackValidationArgs(resources, self.configuration.settings.get(rule.name))
                yield from self._run(program, rule, policy, whole, by_urn, None)

    def _run(
        self, program: Program, rule: Rule, policy: Any, args: Any, items: Mapping[str, Item], own: Item | None
    ) -> Iterator[Line]:
        lines: list[Line] = []

        def report(message: str, urn: str | None = None) -> None:
            item = own or items.get(urn or "")
            lines.append(self._line(program, rule, self.level(rule), message, item))

        checked: ReportViolation = report
        try:
            policy.validate(args, checked)
        except UnknownValueError as error:
            lines.append(self._line(program, rule, EnforcementLevel.ADVISORY, error.message, own))
        yield from lines

    def _line(self, program: Program, rule: Rule, level: EnforcementLevel, message: str, item: Item | None) -> Line:
        finding = message.finding if isinstance(message, Message) else None
        obj = finding.obj if finding is not None else None
        kind = item.token.rpartition(":")[2] if item is not None else ""
        return Line(
            file=program.file,
            document=item.document if item is not None else 0,
            kind=obj.kind if obj is not None else kind,
            name=redacted((obj.name if obj is not None else "") or (item.name if item is not None else "")),
            policy=rule.name,
            control=rule.control,
            level=level.value,
            severity=rule.severity.value,
            message=str(message),
            path=redacted(finding.path) if finding is not None else "",
        )


def _options(item: Item) -> PolicyResourceOptions:
    return PolicyResourceOptions(item.protect, [], None, [], PolicyCustomTimeouts(0, 0, 0), [])


def _proxied(props: Mapping[str, Any]) -> Any:
    try:
        return unknown_checking_proxy(deserialize_properties(_floats(props)))
    except AssertionError:
        raise InputError("a resource holds an asset that says neither path, text nor uri") from None


def _floats(value: Any) -> Any:
    """Numbers as the engine's messages carry them."""
    if isinstance(value, dict):
        return {key: _floats(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_floats(member) for member in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < 2**1000 else str(value)
    if isinstance(value, str | bool | float) or value is None:
        return value
    return str(value)

"""A rule, its findings, and the policy of the SDK that runs it."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyComplianceFramework,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from policies.detect.shapes import redacted
from policies.engine import state
from policies.model.objects import Obj
from policies.model.resource import Resource, Stack
from policies.settings import Settings, SettingsError, schema

DOCS: Final = "docs/policies"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a rule forbids, at `path` of an object. The text never quotes a value that may be secret."""

    path: str
    text: str
    obj: Obj | None = None
    resource: Resource | None = None


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A place a rule must judge whose value is unknown until the update."""

    path: str
    resource: Resource | None = None


Verdict: TypeAlias = Finding | Unjudged
ResourceCheck: TypeAlias = Callable[[Resource, Settings], Iterable[Verdict]]
StackCheck: TypeAlias = Callable[[Stack, Settings], Iterable[Verdict]]


class Message(str):
    """Text of a violation that also carries what it is made of, for `policy-check`."""

    __slots__ = ("finding",)
    finding: Finding

    def __new__(cls, finding: Finding, fix: str) -> Self:
        """Compose `<object>: <path>: <text>. <fix>`."""
        about = f"{finding.obj}: " if finding.obj is not None else ""
        where = f"{finding.path}: " if finding.path else ""
        # A path may hold a key too: the name of a ConfigMap's entry, say.
        self = super().__new__(cls, redacted(f"{about}{where}{finding.text}. {fix}"))
        self.finding = finding
        return self


CIS: Final = ("CIS Kubernetes Benchmark", "v1.12")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One control: what it demands, why, how to comply, and the function that judges."""

    control: str
    name: str
    title: str
    why: str
    fix: str
    severity: Severity
    check: ResourceCheck | None = None
    stack_check: StackCheck | None = None
    cis: str = ""
    nsa: str = ""
    tags: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    kinds: frozenset[str] = field(default_factory=frozenset)
    level: EnforcementLevel = EnforcementLevel.MANDATORY

    @property
    def url(self) -> str:
        """Page of this rule in the repository's documentation."""
        return f"{DOCS}/{self.name}.md"

    def policy(self) -> Policy:
        """The SDK's policy that runs this rule."""
        settings = schema(self.uses)
        common: dict[str, Any] = {
            "name": self.name,
            "description": self.title,
            "enforcement_level": self.level,
            "config_schema": PolicyConfigSchema(settings) if settings else None,
            "display_name": f"{self.control} {self.title}",
            "severity": self.severity,
            "framework": self._framework(),
            "tags": [self.control, *self.tags],
            "remediation_steps": self.fix,
            "url": self.url,
        }
        if self.stack_check is not None:
            return StackValidationPolicy(validate=self._validate_stack, **common)
        return ResourceValidationPolicy(validate=self._validate_resource, **common)

    def _framework(self) -> PolicyComplianceFramework | None:
        if self.cis:
            return PolicyComplianceFramework(CIS[0], CIS[1], self.cis)
        if self.nsa:
            return PolicyComplianceFramework("NSA/CISA Kubernetes Hardening Guide", "1.2", self.nsa)
        return None

    def _validate_resource(self, args: ResourceValidationArgs, report: ReportViolation) -> None:
        with _Guard(self, report):
            resource = state.resource_for(args)
            if self.kinds and not any(obj.kind in self.kinds for obj in resource.objects):
                return
            settings = state.settings_for(args.get_config())
            if self.check is not None:
                self._report(self.check(resource, settings), report, settings, resource)

    def _validate_stack(self, args: StackValidationArgs, report: ReportViolation) -> None:
        with _Guard(self, report):
            settings = state.settings_for(args.get_config())
            if self.stack_check is not None:
                self._report(self.stack_check(state.stack_for(args), settings), report, settings, None)

    def _report(
        self, verdicts: Iterable[Verdict], report: ReportViolation, settings: Settings, resource: Resource | None
    ) -> None:
        open_paths: list[str] = []
        for verdict in verdicts:
            about = verdict.resource or resource
            if isinstance(verdict, Unjudged):
                open_paths.append(verdict.path)
            elif not state.exempt(settings, self, verdict.obj, about):
                report(Message(verdict, self.fix), about.urn if about is not None and self.stack_check else None)
        if open_paths:
            raise judged_at_update(open_paths)


def judged_at_update(paths: list[str]) -> UnknownValueError:
    """The SDK's own signal for "cannot run during preview", raised after all known findings are reported."""
    error = UnknownValueError(UNKNOWN_STRING_VALUE, [paths[0]])
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    error.message = (
        f"{redacted(paths[0])}{more} is not known yet; it is judged at update, everything else was judged now"
    )
    return error


class _Guard:
    """Turns a bug in a rule into a mandatory finding: an exception would abort the preview without saying why."""

    def __init__(self, rule: Rule, report: ReportViolation) -> None:
        self.rule = rule
        self.report = report

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception) or isinstance(error, UnknownValueError):
            return False
        if isinstance(error, SettingsError):
            self.report(f"the configuration of this pack cannot be used: {error}", None)
            return True
        last = traceback.extract_tb(trace)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        # The exception's own text may hold a value of the resource, so only its type and place are told.
        self.report(
            f"the rule itself failed ({type(error).__name__} at {place}), so nothing is known about this resource. "
            "This is a fault of the policy pack; report it with the manifest that causes it.",
            None,
        )
        return True


def by_kind(resource: Resource, *kinds: str, groups: tuple[str, ...]) -> Iterator[Obj]:
    """Objects of the named kinds in the named groups."""
    return (obj for obj in resource.objects if obj.kind in kinds and obj.group in groups)

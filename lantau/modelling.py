"""What every model of a file shares: frozen, no unknown keys, and errors that say what to write."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails

from lantau.problems import InvalidInput, Problem, dotted, fullwidth_hint, nearest, shown
from lantau.problems import Path as FieldPath
from lantau.yamlfile import YamlFile

DNS_LABEL = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
LARGEST_SHOWN_NUMBER = 10**12

Model = TypeVar("Model", bound="Frozen")

Name = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=40)]
"""A name that becomes part of Kubernetes names: lower-case letters, digits and dashes, at most 40 characters."""

ImageByDigest = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9.\-]*(:[0-9]+)?(/[a-z0-9._\-]+)+(:[\w.\-]+)?@sha256:[0-9a-f]{64}$"),
    Field(examples=["registry.example.internal/team/image@sha256:<64 hex digits>"]),
]
"""A container image with registry, path and digest; a tag alone can change under a running platform."""


class Frozen(BaseModel):
    """Base of every model: immutable, unknown keys refused, a refused value never echoed by pydantic itself."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, strict=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _scalar(cls, value: Any, info: ValidationInfo) -> Any:
        # Strictness of pydantic would refuse lists for tuples and words for enums too, which is all that YAML has.
        field = cls.model_fields[info.field_name or ""]
        return _of_its_kind(value, _scalar_kind(field.annotation), info.field_name or "", field.examples or [])


def parse(model: type[Model], data: Mapping[str, Any], *, source: YamlFile | None, root: FieldPath = ()) -> Model:
    """Build `model` from plain data, or raise InvalidInput with every problem at once.

    `source` and `root` (the path of `data` inside the file) give the problems their file and line.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [
            problem
            for details in error.errors(include_url=False, include_context=True)
            for problem in _problems(model, data, details, source, root)
        ]
        problems.sort(key=lambda problem: problem.line or 0)
        raise InvalidInput(problems) from None


def located(
    path: FieldPath,
    message: str,
    *,
    fix: str = "",
    source: YamlFile | None = None,
    root: FieldPath = (),
    warning: bool = False,
) -> Problem:
    """A problem at `path` of a parsed file, with its line when the file is known."""
    full = (*root, *path)
    return Problem(
        where=dotted(full),
        message=message,
        fix=fix,
        file=source.name if source else "",
        line=source.line(full) if source else None,
        warning=warning,
    )


class RuleViolation(ValueError):  # noqa: N818 - it names the fault of a file
    """A cross-field rule of a model is broken; `path` is relative to the model that raised it."""

    def __init__(self, path: FieldPath, message: str, fix: str = "") -> None:
        self.path = path
        self.fix = fix
        super().__init__(message)


class RuleViolations(ValueError):  # noqa: N818 - the plural of RuleViolation
    """Several rules are broken; a person sees all of them at once."""

    def __init__(self, violations: list[RuleViolation]) -> None:
        self.violations = violations
        super().__init__("; ".join(str(violation) for violation in violations))


def _problems(
    model: type[Frozen], data: Any, details: ErrorDetails, source: YamlFile | None, root: FieldPath
) -> Iterator[Problem]:
    path = tuple(part for part in details["loc"] if _is_in(data, details["loc"], part))
    kind = details["type"]
    parent = _model_at(model, path[:-1])
    key = str(path[-1]) if path else ""
    if kind == "extra_forbidden":
        valid = sorted(parent.model_fields) if parent else []
        yield located(
            path,
            f"{shown(key)} is not a key here. {nearest(key, valid)}{fullwidth_hint(key).removeprefix('.')}",
            source=source,
            root=root,
        )
        return
    if kind == "missing":
        field = parent.model_fields.get(key) if parent else None
        fix = f"{key}: {_example(field.annotation, field.examples or [])}" if field else ""
        reason = f" ({field.description})" if field and field.description else ""
        yield located(path, f"this key is required{reason}", fix=fix, source=source, root=root)
        return
    error = details.get("ctx", {}).get("error")
    violations = (
        error.violations if isinstance(error, RuleViolations) else [error] if isinstance(error, RuleViolation) else []
    )
    for violation in violations:
        yield located((*path, *violation.path), str(violation), fix=violation.fix, source=source, root=root)
    if violations:
        return
    value = _value_at(data, path)
    now = _now(value)
    field = parent.model_fields.get(key) if parent else None
    reason = f". {field.description}" if field and field.description else ""
    message = details["msg"].removeprefix("Value error, ")
    fix = f"{key}: {_example(None, field.examples)}" if field and field.examples else ""
    yield located(path, f"{message[0].lower()}{message[1:]}{now}{reason}", fix=fix, source=source, root=root)


def _is_in(data: Any, loc: tuple[int | str, ...], part: int | str) -> bool:
    """Whether a part of pydantic's location is a key a person wrote, not a marker of a union's branch."""
    node = data
    for step in loc:
        if step is part:
            break
        node = _step(node, step, node)
    if isinstance(node, Mapping):
        return part in node or part == loc[-1]
    if isinstance(node, (list, tuple)):
        return isinstance(part, int)
    return False


def _step(node: Any, step: int | str, default: Any) -> Any:
    if isinstance(node, Mapping) and step in node:
        return node[step]
    if isinstance(node, (list, tuple)) and isinstance(step, int) and step < len(node):
        return node[step]
    return default


def _value_at(data: Any, path: FieldPath) -> Any:
    for step in path:
        data = _step(data, step, None)
    return data


def _scalar_kind(annotation: Any) -> type | None:
    """bool, int, float or str when a field holds just that, through optional and literal types; else None."""
    kind = _unwrap(annotation)
    if typing.get_origin(kind) is typing.Literal:
        kind = type(typing.get_args(kind)[0])
    return kind if kind in (bool, int, float, str) else None


def _of_its_kind(value: Any, kind: type | None, key: str, examples: list[Any]) -> Any:
    """The value, refused where YAML's scalar is of another kind than the field: nothing is converted silently."""
    if kind is bool and not isinstance(value, bool):
        raise RuleViolation((), f"this is true or false, without quotes{_now(value)}", fix=f"{key}: true")
    if kind in (int, float):
        if isinstance(value, bool):
            raise RuleViolation((), f"this is a number, not true or false{_now(value)}", fix=_number(key, examples))
        if isinstance(value, str):
            raise RuleViolation((), f"this is a number, without quotes{_now(value)}", fix=_number(key, examples))
    if kind is str and isinstance(value, (bool, int, float, date)):
        example = json.dumps(str(examples[0]).strip('"')) if examples else '"<text>"'
        raise RuleViolation(
            (),
            f"this is text (a string), and YAML reads it as something else: put it in quotes{_now(value)}",
            fix=f"{key}: {example}",
        )
    return value


def _number(key: str, examples: list[Any]) -> str:
    return f"{key}: {examples[0] if examples else '<number>'}"


def _now(value: object) -> str:
    """The refused value in brackets; described where it could be a secret, left out where it says nothing."""
    if isinstance(value, str):
        return f" (now: {shown(value)}{fullwidth_hint(value)})"
    if isinstance(value, bool):
        return f" (now: {str(value).lower()})"
    if isinstance(value, (int, float)):
        return f" (now: {value})" if abs(value) <= LARGEST_SHOWN_NUMBER else " (now: a very large number)"
    return ""


def _model_at(model: type[Frozen], path: FieldPath) -> type[Frozen] | None:
    """The model that a path leads to, through optional fields, mappings and lists; None when it leads elsewhere."""
    current: Any = model
    for step in path:
        if isinstance(current, type) and issubclass(current, Frozen):
            field = current.model_fields.get(str(step))
            current = field.annotation if field else None
        else:
            arguments = typing.get_args(current)
            current = (
                arguments[-1] if arguments and arguments[-1] is not Ellipsis else arguments[0] if arguments else None
            )
        current = _unwrap(current)
    return current if isinstance(current, type) and issubclass(current, Frozen) else None


def _unwrap(annotation: Any) -> Any:
    while True:
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (typing.Union, types.UnionType):
            annotation = next((a for a in typing.get_args(annotation) if a is not type(None)), None)
        else:
            return annotation


def _example(annotation: Any, examples: list[Any] | None) -> str:
    if examples:
        return str(examples[0])
    names = {str: "<text>", int: "<number>", float: "<number>", bool: "true"}
    return names.get(_unwrap(annotation), "…")

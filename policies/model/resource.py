"""One resource of a program as the rules see it, built once and shared by all rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from policies.model.chart_pods import chart_pods
from policies.model.objects import Obj, objects_of
from policies.model.pods import Pod, pods_of
from policies.model.values import Plain, plain


@dataclass(frozen=True)
class Options:
    """Options of a resource that rules ask about."""

    protect: bool = False
    ignore_changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """What occurs anywhere in a resource, for rules to see at once that they have nothing to do."""

    keys: frozenset[str]
    texts: tuple[str, ...]
    """Texts of 32 characters or more."""


def outline_of(body: Plain) -> Outline:
    """Keys and long texts of a body."""
    keys: set[str] = set()
    texts: list[str] = []
    stack: list[Plain] = [body]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            keys.update(value)
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, str) and len(value) >= 32:
            texts.append(value)
    return Outline(frozenset(keys), tuple(texts))


@dataclass(frozen=True)
class Resource:
    """A resource's type, names and plain properties, with what was found inside it."""

    token: str
    name: str
    urn: str
    body: dict[str, Plain]
    options: Options = field(default_factory=Options)

    @cached_property
    def objects(self) -> tuple[Obj, ...]:
        """Kubernetes objects in this resource, itself first."""
        return tuple(objects_of(self.token, self.body))

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """Every PodSpec in this resource."""
        nested = frozenset(id(obj.body) for obj in self.objects)
        found = [pod for obj in self.objects for pod in (*pods_of(obj, nested), *chart_pods(obj))]
        return tuple(found)

    @cached_property
    def outline(self) -> Outline:
        """Keys and long texts of the resource."""
        return outline_of(self.body)

    def of(self, *kinds: str) -> Iterator[Obj]:
        """Objects of the named kinds."""
        return (obj for obj in self.objects if obj.kind in kinds)

    @cached_property
    def cache(self) -> dict[str, Any]:
        """Room for what one rule computes and others reuse."""
        return {}


@dataclass(frozen=True)
class Stack:
    """All resources of a program."""

    resources: Sequence[Resource]

    @cached_property
    def objects(self) -> tuple[tuple[Resource, Obj], ...]:
        """Every object with the resource that holds it."""
        return tuple((resource, obj) for resource in self.resources for obj in resource.objects)

    @cached_property
    def pods(self) -> tuple[tuple[Resource, Pod], ...]:
        """Every pod with the resource that holds it."""
        return tuple((resource, pod) for resource in self.resources for pod in resource.pods)

    @cached_property
    def cache(self) -> dict[str, Any]:
        """Room for what one rule computes and others reuse."""
        return {}


def resource_of(token: str, name: str, urn: str, props: Any, options: Options | None = None) -> Resource:
    """Resource out of the SDK's arguments; `props` is usually an unknown-checking proxy."""
    body = plain(props)
    return Resource(token, name, urn, body if isinstance(body, dict) else {}, options or Options())

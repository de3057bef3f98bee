"""What the rules of one run share: the resource just read, the settings in force, the exceptions used."""

import datetime as dt
import json
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pulumi_policy import PolicyResource, ResourceValidationArgs, StackValidationArgs

from policies.model.objects import Obj
from policies.model.resource import Options, Resource, Stack, resource_of
from policies.settings import DEFAULTS, Exemption, Settings, overlay

if TYPE_CHECKING:
    from policies.engine.rule import Rule


class _Shared(threading.local):
    """One slot a thread: the SDK runs all rules on one resource before it takes the next."""

    props: Any = None
    resource: Resource | None = None
    stack_props: tuple[int, ...] = ()
    stack_keeps: list[Any] | None = None
    stack: Stack | None = None
    known: dict[int, Resource] | None = None


_SHARED: Final = _Shared()


class Pack:
    """State of the pack's process: settings by config, exceptions by use."""

    def __init__(self) -> None:
        self.settings = DEFAULTS
        self.used: set[Exemption] = set()
        self.today = dt.datetime.now(dt.UTC).date()


PACK: Final = Pack()


def reset() -> None:
    """Forget settings and used exceptions, as a new process would."""
    PACK.settings = DEFAULTS
    PACK.used = set()
    PACK.today = dt.datetime.now(dt.UTC).date()
    _SHARED.props = _SHARED.resource = _SHARED.stack = _SHARED.stack_keeps = None


def resource_for(args: ResourceValidationArgs) -> Resource:
    """The resource of these arguments, read once for all rules."""
    if _SHARED.resource is not None and _SHARED.props is args.props:
        return _SHARED.resource
    resource = _read(args)
    _SHARED.props, _SHARED.resource = args.props, resource
    return resource


def remember(known: dict[int, Resource] | None) -> None:
    """Use resources already read, by the id of their properties; None forgets them.

    For callers that keep the properties alive and pass the same ones to resource and stack rules.
    """
    _SHARED.known = known


def stack_for(args: StackValidationArgs) -> Stack:
    """The stack of these arguments, read once for all rules."""
    # Ids stay valid because the proxies are kept for as long as they are compared.
    key = tuple(id(resource.props) for resource in args.resources)
    if _SHARED.stack is not None and _SHARED.stack_props == key:
        return _SHARED.stack
    stack = Stack([_read(resource) for resource in args.resources])
    _SHARED.stack_props, _SHARED.stack_keeps, _SHARED.stack = key, [r.props for r in args.resources], stack
    return stack


def _read(args: ResourceValidationArgs | PolicyResource) -> Resource:
    known = _SHARED.known
    if known is not None and id(args.props) in known:
        return known[id(args.props)]
    resource = _fresh(args)
    if known is not None:
        known[id(args.props)] = resource
    return resource


def _fresh(args: ResourceValidationArgs | PolicyResource) -> Resource:
    options = Options(bool(args.opts.protect), tuple(args.opts.ignore_changes)) if args.opts else Options()
    return resource_of(args.resource_type, args.name, args.urn, args.props, options)


_OVERLAID: dict[tuple[Settings, str], Settings] = {}


def settings_for(config: Mapping[str, Any] | None) -> Settings:
    """Settings of the pack with a rule's own config over them."""
    if not config:
        return PACK.settings
    key = (PACK.settings, json.dumps(config, sort_keys=True, default=str))
    found = _OVERLAID.get(key)
    if found is None:
        found = _OVERLAID[key] = overlay(PACK.settings, config)
    return found


def exempt(settings: Settings, rule: "Rule", obj: Obj | None, resource: Resource | None) -> bool:
    """Whether an exception in force covers a finding; it is then marked as used."""
    if not settings.exceptions:
        return False
    names: list[str] = []
    if resource is not None:
        names += [resource.urn, resource.name]
    if obj is not None:
        names += [f"{obj.kind}/{obj.namespace}/{obj.name}", f"{obj.kind}/{obj.name}"]
    covered = False
    for exemption in settings.exceptions:
        if exemption.covers(rule.name, rule.control, names):
            PACK.used.add(exemption)
            covered = covered or exemption.expires >= PACK.today
    return covered

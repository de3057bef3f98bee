"""Read each resource once instead of once a rule.

The SDK deserialises a resource again for every policy: with some ninety rules that costs ten milliseconds a
resource. The names below are replaced inside the SDK's module by versions that remember the last message. If the
SDK changes so that a name is gone, nothing is replaced and the pack is slower but right.
"""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import pulumi_policy.policy as sdk

_LOCAL: Final = threading.local()


def share_reading() -> bool:
    """Make the SDK's analyzer read each message once; False if this SDK is built differently."""
    servicer: Any = getattr(sdk, "_PolicyAnalyzerServicer", None)
    names = ("json_format", "deserialize_properties", "unknown_checking_proxy")
    methods = ("_get_resource_options", "_get_provider_resource")
    if servicer is None or not all(hasattr(sdk, n) for n in names) or not all(hasattr(servicer, m) for m in methods):
        return False
    module: Any = sdk
    if isinstance(module.json_format, SimpleNamespace):
        return True
    module.json_format = SimpleNamespace(MessageToDict=_remember(module.json_format.MessageToDict, "message"))
    module.deserialize_properties = _remember(module.deserialize_properties, "plain")
    module.unknown_checking_proxy = _remember(module.unknown_checking_proxy, "proxy")
    for name in methods:
        setattr(servicer, name, _remember_method(getattr(servicer, name), name))
    for name in ("Analyze", "AnalyzeStack"):
        setattr(servicer, name, _forget_after(getattr(servicer, name)))
    return True


def _slot(name: str) -> dict[int, tuple[Any, Any]]:
    found: dict[int, tuple[Any, Any]] | None = getattr(_LOCAL, name, None)
    if found is None:
        found = {}
        setattr(_LOCAL, name, found)
    return found


def _lookup(name: str, subject: Any, compute: Callable[[], Any]) -> Any:
    """Remembered result for this very object. The object is kept, so that its id cannot be taken by another."""
    slot = _slot(name)
    known = slot.get(id(subject))
    if known is not None and known[0] is subject:
        return known[1]
    result = compute()
    slot[id(subject)] = (subject, result)
    return result


def _remember(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def remembered(subject: Any, *rest: Any, **named: Any) -> Any:
        if rest or named:
            # Remediation reads with other options and changes what it reads.
            return function(subject, *rest, **named)
        return _lookup(name, subject, lambda: function(subject))

    return remembered


def _remember_method(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    def remembered(self: Any, request: Any) -> Any:
        return _lookup(name, request, lambda: method(self, request))

    return remembered


def _forget_after(method: Callable[..., Any]) -> Callable[..., Any]:
    """Drop what was remembered once a request is answered: the next one brings other messages."""

    def forgetting(self: Any, request: Any, context: Any) -> Any:
        try:
            return method(self, request, context)
        finally:
            vars(_LOCAL).clear()

    return forgetting

"""Arguments of the preflight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pulumi.provider.experimental.provider import CheckFailure

from provider.inputs import Inputs, type_name
from provider.values import Plain, Unknown

DEFAULT_TIMEOUT: Final = 5
NAMES: Final = (
    "context",
    "clusterUid",
    "minServerVersion",
    "requiredKinds",
    "requiredNodes",
    "requiredSecrets",
    "checkStore",
    "timeoutSeconds",
)


@dataclass(frozen=True)
class RequiredKind:
    """A kind that an add-on brings."""

    group: str
    kind: str
    version: str
    addon: str
    how: str

    @property
    def api_version(self) -> str:
        """As manifests write it."""
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True)
class Request:
    """What a preflight is to look at."""

    context: str | None
    cluster_uid: str | None
    min_server_version: str | None
    kinds: tuple[RequiredKind, ...]
    nodes: tuple[str, ...]
    secrets: tuple[str, ...]
    check_store: bool
    timeout: int
    """Seconds for a connection, and again for an answer."""


def read_request(values: Plain, default_context: str | None) -> tuple[Request, list[CheckFailure]]:
    """Arguments checked; they are of use only when there are no failures."""
    inputs = Inputs(values)
    inputs.only(NAMES)
    for name in values:
        if isinstance(values[name], Unknown):
            inputs.fail(name, "is not known during preview; give a plain value")
    context = inputs.text("context", default=default_context) if "context" in values or default_context else None
    uid = inputs.text("clusterUid") if "clusterUid" in values else None
    version = (
        inputs.text("minServerVersion", pattern=r"\d+\.\d+", rule="such as 1.33")
        if "minServerVersion" in values
        else None
    )
    secrets = _texts(inputs, "requiredSecrets")
    request = Request(
        context=context,
        cluster_uid=uid,
        min_server_version=version,
        kinds=_kinds(inputs),
        nodes=_texts(inputs, "requiredNodes"),
        secrets=secrets,
        check_store=bool(inputs.flag("checkStore", default=bool(secrets))),
        timeout=inputs.integer("timeoutSeconds", default=DEFAULT_TIMEOUT, low=1, high=60),
    )
    return request, inputs.failures


def _texts(inputs: Inputs, name: str) -> tuple[str, ...]:
    items = inputs.sequence(name)
    for item in items:
        if not isinstance(item, str):
            inputs.fail(name, f"must be a list of strings; it holds {type_name(item)}")
            return ()
    return tuple(dict.fromkeys(items))


def _kinds(inputs: Inputs) -> tuple[RequiredKind, ...]:
    found: list[RequiredKind] = []
    for index, item in enumerate(inputs.sequence("requiredKinds")):
        if not isinstance(item, dict):
            inputs.fail("requiredKinds", f"must be a list of maps; it holds {type_name(item)}")
            continue
        below = inputs.below(f"requiredKinds[{index}]", item)
        below.only(("group", "kind", "version", "addon", "how"))
        given: dict[str, Any] = {
            "group": below.text("group", default=""),
            "kind": below.text("kind", rule="such as HTTPRoute"),
            "version": below.text("version", rule="such as v1"),
            "addon": below.text("addon", rule="what brings the kind"),
            "how": below.text("how", default=""),
        }
        if all(isinstance(value, str) for value in given.values()):
            found.append(RequiredKind(**given))
    return tuple(found)

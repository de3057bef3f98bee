"""Kubernetes objects inside a resource: by token, by shape, in lists and nested at any depth."""

from dataclasses import dataclass
from typing import Final

from policies.model.values import UNKNOWN, Plain, child, word_set

# Groups of the typed SDK, whose tokens may carry a Patch or List suffix that is no part of the kind.
_BODY_KEYS: Final = word_set(
    """metadata spec data stringData binaryData rules subjects items template webhooks clusters apiServer parameters
    aggregationRule roleRef automountServiceAccountToken"""
)
_SUFFIXES: Final = ("Patch", "List")
_KEEPS_SUFFIX: Final = frozenset({"IPAllowList", "AllowList", "DenyList", "IPWhiteList"})


@dataclass(frozen=True, slots=True)
class Obj:
    """One Kubernetes object: `group` is empty for the core group, `kind` has no Patch or List suffix."""

    group: str
    version: str
    kind: str
    body: dict[str, Plain]
    path: str = ""
    patch: bool = False

    @property
    def metadata(self) -> dict[str, Plain]:
        """Object metadata, empty when absent or unknown."""
        found = child(self.body, "metadata")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        """Name, or an empty text when it is generated or unknown."""
        found = self.metadata.get("name")
        return found if isinstance(found, str) else ""

    @property
    def namespace(self) -> str:
        """Namespace; the default namespace when none is written, empty when unknown."""
        found = self.metadata.get("namespace")
        if found is UNKNOWN:
            return ""
        return found if isinstance(found, str) and found else "default"

    @property
    def labels(self) -> dict[str, Plain]:
        """Labels of the object itself."""
        found = self.metadata.get("labels")
        return found if isinstance(found, dict) else {}

    def is_a(self, kind: str, *groups: str) -> bool:
        """Whether this is `kind` of one of `groups`."""
        return self.kind == kind and self.group in groups

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind


def split_api_version(api_version: str) -> tuple[str, str]:
    """(group, version): `v1` is the core group, written as an empty text."""
    group, _, version = api_version.rpartition("/")
    return ("" if group == "core" else group), version


def parse_token(token: str) -> tuple[str, str, str, bool, bool] | None:
    """(group, version, kind, is patch, is list) of a `kubernetes:` token; None for other providers."""
    package, _, rest = token.partition(":")
    api_version, _, kind = rest.rpartition(":")
    if package != "kubernetes" or not api_version or not kind:
        return None
    group, version = split_api_version(api_version)
    patch = kind.endswith("Patch") and kind != "Patch"
    kind = kind.removesuffix("Patch") if patch else kind
    listed = kind.endswith("List") and kind not in _KEEPS_SUFFIX
    return group, version, kind.removesuffix("List") if listed else kind, patch, listed


def is_object(value: dict[str, Plain]) -> bool:
    """Whether a mapping is an object and not a mere reference to one (those have no body)."""
    return (
        isinstance(value.get("apiVersion"), str)
        and isinstance(value.get("kind"), str)
        and not _BODY_KEYS.isdisjoint(value)
    )


def objects_of(token: str, body: dict[str, Plain]) -> list[Obj]:
    """Objects that a resource of type `token` holds, itself first; nested ones carry their path."""
    found: list[Obj] = []
    parsed = parse_token(token)
    own = isinstance(body.get("apiVersion"), str) and isinstance(body.get("kind"), str)
    if parsed is not None:
        group, version, kind, patch, listed = parsed
        if listed and not own and isinstance(body.get("items"), list):
            _add_list(found, Obj(group, version, kind, body, "", patch))
        elif not own or body["kind"].removesuffix("List") != kind:
            # A body that names another kind than its token is judged as both: the provider believes the body.
            found.append(Obj(group, version, kind, body, "", patch))
    if own:
        _add(found, body, "", patch=bool(parsed and parsed[3]))
    else:
        _descend(found, body, "")
    return found


def _add(found: list[Obj], body: dict[str, Plain], path: str, *, patch: bool = False) -> None:
    group, version = split_api_version(body["apiVersion"])
    kind: str = body["kind"]
    if kind.endswith("List") and isinstance(body.get("items"), list):
        _add_list(found, Obj(group, version, kind.removesuffix("List"), body, path, patch))
        return
    found.append(Obj(group, version, kind, body, path, patch))
    _descend(found, body, path)


def _add_list(found: list[Obj], holder: Obj) -> None:
    """Members of a list object; those of a typed list may leave out their kind."""
    for index, member in enumerate(holder.body["items"]):
        path = f"{holder.path}.items[{index}]" if holder.path else f"items[{index}]"
        if not isinstance(member, dict):
            continue
        if is_object(member):
            _add(found, member, path, patch=holder.patch)
        elif holder.kind:
            found.append(Obj(holder.group, holder.version, holder.kind, member, path, holder.patch))
            _descend(found, member, path)


def _descend(found: list[Obj], value: Plain, path: str) -> None:
    """Look for objects nested in custom resources, templates and manifests."""
    if isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, dict | list):
                _visit(found, member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            if isinstance(member, dict | list):
                _visit(found, member, f"{path}[{index}]")


def _visit(found: list[Obj], value: Plain, path: str) -> None:
    if isinstance(value, dict) and is_object(value):
        _add(found, value, path)
    else:
        _descend(found, value, path)

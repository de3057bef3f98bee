"""Flags of the API server, wherever a program sets them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from policies.model.documents import documents
from policies.model.objects import Obj, is_object
from policies.model.pods import Container, pods_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, items, join

_SERVER: Final = "kube-apiserver"
# kops writes flags as fields of its own.
_KOPS: Final = {
    "auditPolicyFile": "audit-policy-file",
    "auditLogPath": "audit-log-path",
    "auditLogMaxAge": "audit-log-maxage",
    "auditLogMaxBackups": "audit-log-maxbackup",
    "auditLogMaxSize": "audit-log-maxsize",
    "auditWebhookConfigFile": "audit-webhook-config-file",
}
_HOLDERS: Final = frozenset(
    {"clusterConfiguration", "kubeAPIServer", "kubeAPIServerArg", "apiServer", "api", "kube-apiserver-arg"}
)
_UNIT: Final = re.compile(r"(?m)^\s{0,20}ExecStart=((?:[^\\\n]|\\\n|\\)*)")


@dataclass(frozen=True, slots=True)
class ServerFlags:
    """Flags of one API server: name without dashes to (path, value). `open` holds unknown places."""

    obj: Obj
    path: str
    values: dict[str, tuple[str, Plain]] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def value(self, name: str) -> Plain:
        """Value of a flag; None when it is not set, `UNKNOWN` when it may be among unknown places."""
        if name in self.values:
            return self.values[name][1]
        return UNKNOWN if self.open else None

    def where(self, name: str) -> str:
        """Place of a flag, or the place where it is missing."""
        return self.values[name][0] if name in self.values else self.path


def server_flags(resource: Resource) -> list[ServerFlags]:
    """Flags of every API server that a resource configures."""
    found: list[ServerFlags] | None = resource.cache.get("flags")
    if found is None:
        found = resource.cache["flags"] = list(_flags(resource))
    return found


def _flags(resource: Resource) -> Iterator[ServerFlags]:
    for pod in resource.pods:
        for container in pod.containers():
            yield from _of_container(pod.obj, container)
    if _may_configure(resource):
        for obj in resource.objects:
            yield from _in_body(obj, obj.body, obj.path, obj.kind)
    if not resource.objects:
        # Some installers write their configuration without apiVersion and kind.
        yield from _in_body(Obj("", "", resource.name or "document", resource.body), resource.body, "")
    for document in documents(resource):
        holder = Obj("", "", str(document.body.get("kind", "")), document.body, document.path)
        for pod in pods_of(holder, frozenset()):
            for container in pod.containers():
                yield from _of_container(document.obj, container)
        yield from _in_body(document.obj, document.body, document.path, holder.kind)


def _may_configure(resource: Resource) -> bool:
    """Whether a walk can find anything, so that other resources cost nothing."""
    if not _HOLDERS.isdisjoint(resource.outline.keys):
        return True
    if any(obj.kind in ("ClusterConfiguration", "KubeadmControlPlane") for obj in resource.objects):
        return True
    return any("ExecStart=" in text for text in resource.outline.texts)


def _of_container(obj: Obj, container: Container) -> Iterator[ServerFlags]:
    """Flags of a container that runs the API server, by its command line or by its image alone."""
    words: list[tuple[str, Plain]] = []
    for key in ("command", "args"):
        for path, word in items(container.body.get(key), f"{container.path}.{key}"):
            if isinstance(word, str) and _SERVER in word and any(c.isspace() for c in word.strip()):
                words.extend((path, part) for part in _split(word))
            else:
                words.append((path, word))
    start = next((n for n, (_, w) in enumerate(words) if isinstance(w, str) and _base(w) == _SERVER), None)
    image = container.body.get("image")
    if start is None:
        if not isinstance(image, str) or _base(image.partition("@")[0].partition(":")[0]) != _SERVER:
            return
        start = -1
    flags = ServerFlags(obj, container.path)
    _read(flags, words[start + 1 :])
    yield flags


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _read(flags: ServerFlags, words: list[tuple[str, Plain]]) -> None:
    pending: str | None = None
    for path, word in words:
        if word is UNKNOWN:
            flags.open.append(path)
            pending = None
        elif not isinstance(word, str):
            pending = None
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            flags.values[name] = (path, value)
            pending = None if equals else name
        elif pending is not None:
            flags.values[pending] = (path, word)
            pending = None


def _in_body(obj: Obj, value: Plain, path: str, kind: str = "") -> Iterator[ServerFlags]:
    """Flags in kubeadm's, Cluster API's, k3s' and RKE2's configuration, at any depth."""
    if isinstance(value, list):
        for index, member in enumerate(value):
            if isinstance(member, dict | list):
                yield from _in_body(obj, member, f"{path}[{index}]")
        return
    if not isinstance(value, dict):
        return
    if kind == "ClusterConfiguration":
        yield _kubeadm(obj, value, path)
        return
    configured = child(value, "spec", "kubeadmConfigSpec", "clusterConfiguration")
    if kind == "KubeadmControlPlane" and not isinstance(configured, dict):
        where = join(path, "spec.kubeadmConfigSpec")
        yield ServerFlags(obj, where, open=[where] if configured is UNKNOWN else [])
    arguments = value.get("kube-apiserver-arg")
    if arguments is not None:
        flags = ServerFlags(obj, join(path, "kube-apiserver-arg"))
        listed = items(arguments, flags.path)
        _read(flags, [(p, w if not isinstance(w, str) or w.startswith("--") else f"--{w}") for p, w in listed])
        yield flags
    for key, member in value.items():
        where = join(path, key)
        if key == "clusterConfiguration" and isinstance(member, dict):
            yield _kubeadm(obj, member, where)
        elif key == "kubeAPIServerArg":
            yield _extra(obj, member, where)
        elif key in ("kubeAPIServer", "apiServer", "api") and isinstance(member, dict) and "extraArgs" in member:
            yield _extra(obj, member["extraArgs"], f"{where}.extraArgs")
        elif key == "kubeAPIServer" and isinstance(member, dict):
            named = {flag: (f"{where}.{name}", member[name]) for name, flag in _KOPS.items() if name in member}
            yield ServerFlags(obj, where, named)
        elif isinstance(member, str) and _SERVER in member and "ExecStart=" in member:
            yield from _of_units(obj, member, where)
        elif isinstance(member, dict | list) and not (isinstance(member, dict) and is_object(member)):
            yield from _in_body(obj, member, join(path, key))


def _of_units(obj: Obj, text: str, path: str) -> Iterator[ServerFlags]:
    """Flags in a systemd unit, whose lines go on behind a backslash."""
    for match in _UNIT.finditer(text):
        words = _split(match[1].replace("\\\n", " "))
        start = next((n for n, word in enumerate(words) if _base(word) == _SERVER), None)
        if start is not None:
            flags = ServerFlags(obj, path)
            _read(flags, [(path, word) for word in words[start + 1 :]])
            yield flags


def _kubeadm(obj: Obj, configuration: dict[str, Plain], path: str) -> ServerFlags:
    return _extra(obj, child(configuration, "apiServer", "extraArgs"), join(path, "apiServer.extraArgs"))


def _extra(obj: Obj, arguments: Plain, path: str) -> ServerFlags:
    """Extra arguments as a map (kubeadm v1beta3), a list of name and value (v1beta4) or a list of flags."""
    flags = ServerFlags(obj, path)
    if arguments is UNKNOWN:
        flags.open.append(path)
    elif isinstance(arguments, dict):
        for name, value in arguments.items():
            flags.values[name.lstrip("-")] = (join(path, name), value if value is UNKNOWN else str(value))
    else:
        for where, member in items(arguments, path):
            name = child(member, "name")
            if isinstance(member, str):
                _read(flags, [(where, member if member.startswith("--") else f"--{member}")])
            elif isinstance(name, str):
                value = child(member, "value")
                flags.values[name.lstrip("-")] = (where, value if value is UNKNOWN else str(value))
            else:
                flags.open.append(where)
    return flags

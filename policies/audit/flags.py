"""Flags of the API server, wherever a program sets them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from policies.audit.command_line import Word, flag_name, read_flags, script_lines, server_lines
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
    | {"kube-apiserver-arg+", "extraArgs"}
)
_KINDS: Final = frozenset({"ClusterConfiguration", "KubeadmControlPlane"})
_UNIT: Final = re.compile(r"(?m)^\s{0,20}ExecStart=((?:[^\\\n]|\\\n|\\)*)")
# Groups in which `apiServer.extraArgs` is the Kubernetes API server's; elsewhere its flags must show it.
_INSTALLERS: Final = ("", "cluster.x-k8s.io", "kubeadm.k8s.io", "k0sproject.io", "kops.k8s.io", "kamaji.clastix.io")
_TELLING: Final = (
    "audit-", "authorization-mode", "enable-admission-plugins", "disable-admission-plugins", "etcd-", "oidc-",
    "service-cluster-ip-range", "service-account-", "anonymous-auth", "encryption-provider-config", "tls-cipher-suites",
    "admission-control-config-file", "kubelet-", "runtime-config",
)  # fmt: skip
_PATCHED: Final = re.compile(r"/(?:apiServer|kubeAPIServer)(?:/extraArgs(?:/([^/]{1,80}))?)?$")


@dataclass(frozen=True, slots=True)
class ServerFlags:
    """Flags of one API server: name without dashes to (path, value). `open` holds unknown places.

    `partial`: a patch, which leaves other flags as they are.
    """

    obj: Obj
    path: str
    values: dict[str, Word] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    partial: bool = False

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
    if not _HOLDERS.isdisjoint(resource.outline.keys) or any(obj.kind in _KINDS for obj in resource.objects):
        return True
    if any(obj.is_a("Cluster", "kops.k8s.io") for obj in resource.objects):
        return True
    return any("ExecStart=" in text or "/apiServer/extraArgs" in text for text in resource.outline.texts)


def _of_container(obj: Obj, container: Container) -> Iterator[ServerFlags]:
    """Flags of a container that runs the API server, by its command line or by its image alone."""
    for words in server_lines(container.body, container.path):
        values, unknown = read_flags(words)
        yield ServerFlags(obj, container.path, values, unknown)


def _in_body(obj: Obj, value: Plain, path: str, kind: str = "") -> Iterator[ServerFlags]:
    """Flags in kubeadm's, Cluster API's, kops', k3s' and RKE2's configuration, at any depth."""
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
    if kind == "KubeadmControlPlane" and not isinstance(configured, dict) and not obj.patch:
        where = join(path, "spec.kubeadmConfigSpec")
        yield ServerFlags(obj, where, open=[where] if configured is UNKNOWN else [])
    if kind == "Cluster" and obj.group == "kops.k8s.io" and not obj.patch:
        where = join(path, "spec.kubeAPIServer")
        server = child(value, "spec", "kubeAPIServer")
        if not isinstance(server, dict):
            yield ServerFlags(obj, where, open=[where] if server is UNKNOWN else [])
    yield from _arguments(obj, value, path)
    yield from _patched(obj, value, path)
    for key, member in value.items():
        where = join(path, key)
        if key == "clusterConfiguration" and isinstance(member, dict):
            yield _kubeadm(obj, member, where)
        elif key == "kubeAPIServerArg":
            yield _extra(obj, member, where)
        elif key in ("kubeAPIServer", "apiServer", "api") and isinstance(member, dict) and "extraArgs" in member:
            flags = _extra(obj, member["extraArgs"], f"{where}.extraArgs")
            if _is_server(obj, key, flags):
                yield flags
        elif key == "extraArgs" and isinstance(member, dict) and isinstance(member.get("apiServer"), list):
            yield _extra(obj, member["apiServer"], f"{where}.apiServer")
        elif key == "kubeAPIServer" and isinstance(member, dict) and obj.group in ("kops.k8s.io", ""):
            named = {flag: (f"{where}.{name}", member[name]) for name, flag in _KOPS.items() if name in member}
            yield ServerFlags(obj, where, named, partial=obj.patch)
        elif isinstance(member, str) and _SERVER in member and "ExecStart=" in member:
            yield from _of_units(obj, member, where)
        elif isinstance(member, dict | list) and not (isinstance(member, dict) and is_object(member)):
            yield from _in_body(obj, member, join(path, key))


def _is_server(obj: Obj, key: str, flags: ServerFlags) -> bool:
    """Whether arguments are those of the API server of Kubernetes and not of some chart's own `apiServer`."""
    trusted = obj.group.endswith(_INSTALLERS[1:]) or (obj.group in ("", "eksctl.io") and key != "api")
    return trusted or bool(flags.open) or any(name.startswith(_TELLING) for name in flags.values)


def _arguments(obj: Obj, value: dict[str, Plain], path: str) -> Iterator[ServerFlags]:
    """k3s' and RKE2's list of flags; a plus behind the key adds to the lists of other files."""
    words: list[Word] = []
    first = ""
    for key in ("kube-apiserver-arg", "kube-apiserver-arg+"):
        if value.get(key) is not None:
            first = first or join(path, key)
            listed = items(value[key], join(path, key))
            words += [(p, f"--{w.lstrip('-')}" if isinstance(w, str) else w) for p, w in listed]
    if first:
        values, unknown = read_flags(words)
        yield ServerFlags(obj, first, values, unknown, partial="kube-apiserver-arg" not in value)


def _patched(obj: Obj, value: dict[str, Plain], path: str) -> Iterator[ServerFlags]:
    """A JSON patch onto the arguments, as in a ClusterClass: only what it sets is judged."""
    place = value.get("path")
    match = _PATCHED.search(place) if isinstance(place, str) and "value" in value else None
    if match is None or not isinstance(place, str):
        return
    where, new = join(path, "value"), value["value"]
    name = (match[1] or "").replace("~1", "/").replace("~0", "~")
    if place.endswith("/extraArgs"):
        flags = _extra(obj, new, where)
    elif "/extraArgs/" not in place:
        flags = _extra(obj, child(new, "extraArgs"), f"{where}.extraArgs")
    elif isinstance(new, dict):
        flags = _extra(obj, [new], where)
    else:
        flags = _extra(obj, {name: new}, where)
    yield ServerFlags(obj, flags.path, flags.values, flags.open, partial=True)


def _of_units(obj: Obj, text: str, path: str) -> Iterator[ServerFlags]:
    """Flags in a systemd unit, whose lines go on behind a backslash."""
    for match in _UNIT.finditer(text):
        for words in script_lines(match[1].lstrip("@-:+!"), path):
            values, unknown = read_flags(words)
            yield ServerFlags(obj, path, values, unknown)


def _kubeadm(obj: Obj, configuration: dict[str, Plain], path: str) -> ServerFlags:
    return _extra(obj, child(configuration, "apiServer", "extraArgs"), join(path, "apiServer.extraArgs"))


def _extra(obj: Obj, arguments: Plain, path: str) -> ServerFlags:
    """Extra arguments as a map (kubeadm v1beta3), a list of name and value (v1beta4) or a list of flags."""
    flags = ServerFlags(obj, path, partial=obj.patch)
    if arguments is UNKNOWN:
        flags.open.append(path)
    elif isinstance(arguments, dict):
        for name, value in arguments.items():
            _set(flags, name, join(path, name), value)
    else:
        for where, member in items(arguments, path):
            name = child(member, "name")
            if isinstance(member, str):
                values, _ = read_flags([(where, f"--{member.lstrip('-')}")])
                flags.values.update(values)
            elif isinstance(name, str):
                _set(flags, name, where, child(member, "value"))
            else:
                flags.open.append(where)
    return flags


def _set(flags: ServerFlags, name: str, path: str, value: Plain) -> None:
    """A list as a value holds the values of a repeated flag, of which the last counts."""
    if isinstance(value, list):
        value = value[-1] if value else None
    flags.values[flag_name(name)] = (path, value if value is UNKNOWN or value is None else str(value))

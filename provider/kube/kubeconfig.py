"""One context of the user's kubeconfig: where the API server is and how to prove who we are."""

from __future__ import annotations

import base64
import binascii
import json
import os
import ssl
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from provider.errors import ProviderError
from provider.inputs import nearest

PLUGIN_SECONDS: Final = 20
"""How long a credential plugin of a kubeconfig may take."""


class KubeconfigError(ProviderError):
    """The kubeconfig cannot be used; `code` and `remedy` are for the preflight's list."""

    def __init__(self, code: str, subject: str, message: str, remedy: str) -> None:
        self.code = code
        self.subject = subject
        self.problem = message
        self.remedy = remedy
        super().__init__(f"{message}: {remedy}")


@dataclass(frozen=True)
class Access:
    """A context, ready for use."""

    context: str
    server: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    server_name: str | None = None
    proxy: str | None = None
    renewable: bool = False
    """Whether the credential came from a plugin and may be asked for again when it has expired."""


def load_access(context: str, environment: Mapping[str, str] | None = None) -> Access:
    """Read one context as kubectl would. Raises KubeconfigError."""
    environment = os.environ if environment is None else environment
    config = _read_all(environment)
    entry = config.named("contexts", context)
    if entry is None:
        names = config.names("contexts")
        near = nearest(context, names)
        raise KubeconfigError(
            "context-unknown",
            context,
            f"the kubeconfig has no context {context}",
            (f"did you mean {near}? " if near else "")
            + (f"it has {', '.join(names)}" if names else "it has no contexts at all"),
        )
    cluster_name, user_name = str(entry.get("cluster") or ""), str(entry.get("user") or "")
    cluster = config.named("clusters", cluster_name)
    if cluster is None or not cluster.get("server"):
        raise _invalid(context, f"context {context} names cluster {cluster_name!r}, which has no server")
    user = config.named("users", user_name) or {}
    return _access(context, cluster, user, environment)


class _Config:
    """Several kubeconfig files seen as one: the first to name something wins, as in kubectl."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, dict[str, Any]]] = {"contexts": {}, "clusters": {}, "users": {}}

    def add(self, path: Path, document: Any) -> None:
        if document is None:
            return
        if not isinstance(document, dict):
            raise _invalid(str(path), f"{path} is not a kubeconfig")
        for plural, entries in self._entries.items():
            listed = document.get(plural) or []
            if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
                raise _invalid(str(path), f"{path} is not a kubeconfig: {plural} must be a list of maps")
            for item in listed:
                body = item.get(plural[:-1]) or {}
                if not isinstance(body, dict):
                    raise _invalid(str(path), f"{path} is not a kubeconfig: {plural[:-1]} must be a map")
                entries.setdefault(str(item.get("name")), {**body, "_folder": path.parent})

    def named(self, plural: str, name: str) -> dict[str, Any] | None:
        return self._entries[plural].get(name)

    def names(self, plural: str) -> list[str]:
        return sorted(self._entries[plural])


def _read_all(environment: Mapping[str, str]) -> _Config:
    import yaml  # type: ignore[import-untyped]

    given = [part for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    paths = [Path(part).expanduser() for part in given] or [
        Path(environment.get("HOME", "~")).expanduser() / ".kube/config"
    ]
    present = [path for path in paths if path.is_file()]
    if not present:
        names = ", ".join(str(path) for path in paths)
        raise KubeconfigError(
            "kubeconfig-missing",
            names,
            f"there is no kubeconfig at {names}",
            "set KUBECONFIG to the file that holds the stack's context",
        )
    config = _Config()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in present:
        try:
            document = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - a safe loader
        except OSError as error:
            raise _invalid(str(path), f"{path} cannot be read ({error.strerror})") from None
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            mark = getattr(error, "problem_mark", None)
            where = f", line {mark.line + 1}" if mark else ""
            raise _invalid(str(path), f"{path} is not YAML{where}") from None
        config.add(path, document)
    return config


def _invalid(subject: str, message: str) -> KubeconfigError:
    return KubeconfigError("kubeconfig-invalid", subject, message, "repair the file, or set KUBECONFIG to another")


def _access(context: str, cluster: dict[str, Any], user: dict[str, Any], environment: Mapping[str, str]) -> Access:
    for key in ("auth-provider", "username"):
        if user.get(key):
            raise _invalid(context, f"context {context} signs in by {key}, which Kubernetes no longer knows")
    plugin = _ask_plugin(context, user, cluster, environment) if user.get("exec") else {}
    token = plugin.get("token") or user.get("token") or _token_file(context, user)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    server = str(cluster["server"]).rstrip("/")
    tls = _tls(context, cluster, user, plugin) if server.startswith("https:") else None
    return Access(
        context=context,
        server=server,
        headers=headers,
        tls=tls,
        server_name=cluster.get("tls-server-name"),
        proxy=_proxy(context, server, cluster, environment),
        renewable=bool(plugin),
    )


def _proxy(context: str, server: str, cluster: dict[str, Any], environment: Mapping[str, str]) -> str | None:
    """The proxy that kubectl would take: the cluster's own, or the environment's unless NO_PROXY or loopback."""
    proxy = cluster.get("proxy-url")
    if proxy is None:
        address = urllib.parse.urlsplit(server)
        lower = {key.lower(): value for key, value in environment.items()}
        exempt = {"no": lower.get("no_proxy", "")}
        host = address.hostname or ""
        if host == "localhost" or host.startswith("127.") or host == "::1":
            return None
        if urllib.request.proxy_bypass_environment(host, exempt):  # type: ignore[attr-defined]
            return None
        proxy = lower.get(f"{address.scheme}_proxy") or None
    if proxy is not None and not str(proxy).startswith(("http://", "https://")):
        raise _invalid(context, f"context {context}: only http and https proxies can be used")
    return proxy


def _token_file(context: str, user: dict[str, Any]) -> str | None:
    if not user.get("tokenFile"):
        return None
    path = user["_folder"] / str(user["tokenFile"])
    try:
        return str(path.read_text(encoding="utf-8")).strip()
    except OSError as error:
        raise _invalid(
            context, f"context {context} names token file {path}, which cannot be read ({error.strerror})"
        ) from None


def _material(context: str, entry: dict[str, Any], key: str) -> str | None:
    """PEM text of `<key>-data`, or of the file that `<key>` names."""
    if entry.get(f"{key}-data"):
        try:
            return base64.b64decode(entry[f"{key}-data"], validate=True).decode()
        except (binascii.Error, UnicodeDecodeError, TypeError):
            raise _invalid(context, f"context {context}: {key}-data is not base64 of PEM text") from None
    if entry.get(key):
        path = entry["_folder"] / str(entry[key])
        try:
            return str(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise _invalid(
                context, f"context {context} names {path}, which cannot be read ({error.strerror})"
            ) from None
    return None


def _tls(context: str, cluster: dict[str, Any], user: dict[str, Any], plugin: Mapping[str, Any]) -> ssl.SSLContext:
    tls = ssl.create_default_context()
    # Since Python 3.13 the default refuses authorities without a key-usage extension; many clusters' are such.
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    authority = _material(context, cluster, "certificate-authority")
    certificate = plugin.get("clientCertificateData") or _material(context, user, "client-certificate")
    key = plugin.get("clientKeyData") or _material(context, user, "client-key")
    try:
        if authority:
            tls = _only_authority(tls, authority)
        if certificate and key:
            _load_chain(tls, certificate, key)
    except (ssl.SSLError, ValueError):
        raise _invalid(context, f"context {context}: a certificate or key in it is damaged or does not match") from None
    return tls


def _only_authority(default: ssl.SSLContext, authority: str) -> ssl.SSLContext:
    """A context that trusts the cluster's own authority and no public one."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.verify_flags = default.verify_flags
    tls.check_hostname = default.check_hostname
    tls.verify_mode = default.verify_mode
    tls.load_verify_locations(cadata=authority)
    return tls


def _load_chain(tls: ssl.SSLContext, certificate: str, key: str) -> None:
    # The ssl module reads keys from files only; this one lives for the length of the call, readable by us alone.
    with tempfile.TemporaryDirectory(prefix="lantau-") as folder:
        path = Path(folder) / "client.pem"
        path.touch(mode=0o600)
        path.write_text(f"{certificate}\n{key}\n", encoding="utf-8")
        tls.load_cert_chain(path)


def _ask_plugin(
    context: str, user: dict[str, Any], cluster: dict[str, Any], environment: Mapping[str, str]
) -> dict[str, Any]:
    """Run the kubeconfig's credential plugin. Its output is never repeated: it is a credential."""
    given: dict[str, Any] = user["exec"]
    command = str(given.get("command") or "")
    if "/" in command and not command.startswith("/"):
        command = str(user["_folder"] / command)
    version = str(given.get("apiVersion") or "client.authentication.k8s.io/v1")
    info: dict[str, Any] = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
    if given.get("provideClusterInfo"):
        info["spec"]["cluster"] = {
            key: cluster[key] for key in ("server", "certificate-authority-data", "tls-server-name") if key in cluster
        }
    extra = {str(item["name"]): str(item["value"]) for item in given.get("env") or []}
    remedy = str(given.get("installHint") or "").strip() or f"run {command} by hand to see why"
    try:
        done = subprocess.run(
            [command, *(str(item) for item in given.get("args") or [])],
            env={**environment, **extra, "KUBERNETES_EXEC_INFO": json.dumps(info)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PLUGIN_SECONDS,
            check=True,
        )
        status = json.loads(done.stdout)["status"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        why = {
            "FileNotFoundError": "was not found",
            "TimeoutExpired": f"did not answer within {PLUGIN_SECONDS} s",
            "CalledProcessError": f"failed with exit code {getattr(error, 'returncode', '?')}",
        }.get(type(error).__name__, "gave no credential")
        raise KubeconfigError(
            "credential-plugin-failed", context, f"context {context}: credential plugin {command} {why}", remedy
        ) from None
    return status if isinstance(status, dict) else {}

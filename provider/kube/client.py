"""Requests to one API server, with errors by kind."""

from __future__ import annotations

import json
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, Final

import urllib3
import urllib3.exceptions

from provider.errors import ProviderError
from provider.kube.kubeconfig import Access

MERGE_PATCH: Final = "application/merge-patch+json"
FIELD_MANAGER: Final = "lantau-provider"


class KubeError(ProviderError):
    """A request failed. `code` is one of cluster-unreachable, tls-refused, credentials-refused, permission-missing,
    not-found, conflict, request-refused.
    """

    def __init__(self, code: str, message: str, remedy: str = "") -> None:
        self.code = code
        self.problem = message
        self.remedy = remedy
        super().__init__(f"{message}: {remedy}" if remedy else message)


class Cluster:
    """The API server of one context. Safe to use from several threads; nothing is retried."""

    def __init__(self, access: Access, *, timeout: float = 10.0, renew: Callable[[], Access] | None = None) -> None:
        self._access = access
        self._timeout = urllib3.Timeout(connect=timeout, read=timeout)
        self._renew = renew
        self._pool = self._make_pool()
        self._lock = threading.Lock()
        self._uid: str | None = None

    @property
    def context(self) -> str:
        """Name of the kubeconfig context."""
        return self._access.context

    def _make_pool(self) -> urllib3.PoolManager:
        access = self._access
        options: dict[str, Any] = {"timeout": self._timeout, "retries": False, "maxsize": 16}
        if access.tls is not None:
            options["ssl_context"] = access.tls
            if access.server_name:
                options["server_hostname"] = options["assert_hostname"] = access.server_name
        if access.proxy:
            return urllib3.ProxyManager(access.proxy, **options)
        return urllib3.PoolManager(**options)

    def get(self, path: str, *, accept: str = "application/json") -> dict[str, Any]:
        """GET a path. Raises KubeError."""
        return self._request("GET", path, {"Accept": accept}, None)

    def merge_patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """PATCH a path under our own field manager. Raises KubeError; code conflict when a resourceVersion is stale."""
        headers = {"Accept": "application/json", "Content-Type": MERGE_PATCH}
        return self._request("PATCH", f"{path}?fieldManager={FIELD_MANAGER}", headers, json.dumps(body).encode())

    def uid(self) -> str:
        """What tells this cluster from every other: the UID of its kube-system namespace. Raises KubeError."""
        with self._lock:
            if self._uid is None:
                self._uid = str(self.get("/api/v1/namespaces/kube-system")["metadata"]["uid"])
            return self._uid

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> dict[str, Any]:
        status, data = self._send(method, path, headers, body)
        if status == 401 and self._access.renewable and self._renew is not None:
            with self._lock:
                self._access = self._renew()
                self._pool = self._make_pool()
            status, data = self._send(method, path, headers, body)
        if status >= 300:
            raise self._refusal(method, path, status, data)
        try:
            answer = json.loads(data)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise KubeError(
                "cluster-unreachable",
                f"{self._access.server} does not answer as a Kubernetes API server",
                "check the server of the context, and whether a proxy stands between",
            )
        return answer

    def _send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        access = self._access
        try:
            answer = self._pool.request(
                method, access.server + path, headers={**access.headers, **headers}, body=body, redirect=False
            )
        except urllib3.exceptions.SSLError:
            raise KubeError(
                "tls-refused",
                f"the certificate of {access.server} is not signed by the authority of context {access.context}",
                "fetch the kubeconfig of this cluster anew",
            ) from None
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise KubeError(
                "cluster-unreachable",
                f"the API server {access.server} of context {access.context} cannot be reached ({_why(error)})",
                "check that the cluster runs and that this machine reaches it, VPN included",
            ) from None
        return answer.status, answer.data

    def _refusal(self, method: str, path: str, status: int, data: bytes) -> KubeError:
        try:
            message = str(json.loads(data).get("message") or "")
        except (ValueError, AttributeError):
            message = ""
        server = self._access.server
        if status == 401:
            return KubeError(
                "credentials-refused",
                f"{server} does not accept the credentials of context {self.context}",
                "sign in again, or fetch the kubeconfig anew",
            )
        if status == 403:
            return KubeError(
                "permission-missing", message or f"{method} {path} is forbidden", "ask for that permission"
            )
        codes = {404: "not-found", 409: "conflict"}
        return KubeError(
            codes.get(status, "request-refused"), message or f"{server} answered {method} {path} with {status}"
        )


def quoted(name: str) -> str:
    """A name as one part of a path."""
    return urllib.parse.quote(name, safe="")


def _why(error: Exception) -> str:
    """A few words for why a connection failed."""
    kinds = (
        (urllib3.exceptions.NameResolutionError, "the name does not resolve"),
        (urllib3.exceptions.NewConnectionError, "connection refused or no route"),
        (urllib3.exceptions.ConnectTimeoutError, "no answer in time"),
        (urllib3.exceptions.ReadTimeoutError, "no answer in time"),
        (urllib3.exceptions.ProxyError, "the proxy refuses"),
        (urllib3.exceptions.ProtocolError, "the connection was closed"),
        (urllib3.exceptions.LocationValueError, "its address is not valid"),
    )
    return next((words for kind, words in kinds if isinstance(error, kind)), type(error).__name__)

"""A small client of the API server: server-side apply, reads, and errors that say what was refused."""

import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from sandbox.errors import SandboxError

FIELD_MANAGER = "lantau-sandbox"
Object = dict[str, Any]

_PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ConfigMap": "configmaps",
    "CustomResourceDefinition": "customresourcedefinitions",
    "GatewayClass": "gatewayclasses",
    "Namespace": "namespaces",
    "Node": "nodes",
    "PersistentVolume": "persistentvolumes",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "ServiceAccount": "serviceaccounts",
    "StorageClass": "storageclasses",
}


class Api:
    """The API server at `server`, spoken to with a client certificate; usable from several threads."""

    def __init__(self, server: str, authority: Path, certificate: Path, key: Path) -> None:
        context = ssl.create_default_context(cafile=str(authority))
        context.load_cert_chain(certificate, key)
        limits = httpx.Limits(max_connections=16, max_keepalive_connections=16)
        self._client = httpx.Client(base_url=server, verify=context, timeout=120.0, trust_env=False, limits=limits)

    def close(self) -> None:
        """Drop the connections."""
        self._client.close()

    def ready(self) -> bool:
        """Whether every check of the API server passes."""
        try:
            return self._client.get("/readyz", timeout=5.0).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def get(self, path: str, accept: str = "application/json") -> Object | None:
        """The object at `path`; None when there is none."""
        response = self._send("GET", path, headers={"Accept": accept})
        return None if response.status_code == httpx.codes.NOT_FOUND else _object(response, path)

    def items(self, path: str) -> list[Object]:
        """The objects of the list at `path`."""
        listed = self.get(path) or {}
        return list(listed.get("items") or [])

    def apply(self, body: Object, subresource: str = "") -> Object:
        """Server-side apply `body` as the sandbox's field manager, taking over fields that others set before."""
        path = object_path(body) + (f"/{subresource}" if subresource else "")
        return self.apply_text(path, json.dumps(body).encode())

    def apply_text(self, path: str, body: bytes) -> Object:
        """Server-side apply of one YAML document, sent as it is: the API server reads every YAML that kubectl reads."""
        response = self._send(
            "PATCH",
            path,
            params={"fieldManager": FIELD_MANAGER, "force": "true"},
            headers={"Content-Type": "application/apply-patch+yaml"},
            content=body,
        )
        return _object(response, path)

    def merge(self, path: str, patch: Object) -> Object:
        """JSON merge patch: null removes a field."""
        headers = {"Content-Type": "application/merge-patch+json"}
        response = self._send("PATCH", path, headers=headers, content=json.dumps(patch).encode())
        return _object(response, path)

    def delete(self, path: str) -> None:
        """Delete the object at `path`, if there is one."""
        response = self._send("DELETE", path)
        if response.status_code != httpx.codes.NOT_FOUND:
            _object(response, path)

    def _send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        try:
            return self._client.request(method, path, headers=headers, params=params, content=content)
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise SandboxError(f"the API server did not answer {method} {path}: {reason}") from error


def object_path(body: Object) -> str:
    """Where an object lives: its group, version, namespace, plural and name; KeyError for a kind not in the table."""
    version, metadata = body["apiVersion"], body["metadata"]
    root = "/api/v1" if version == "v1" else f"/apis/{version}"
    space = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{space}/{_PLURALS[body['kind']]}/{metadata['name']}"


def _object(response: httpx.Response, path: str) -> Object:
    try:
        body = response.json()
    except ValueError:
        body = {"message": response.text[:300]}
    if response.is_error:
        raise SandboxError(f"the API server refused {path}: {body.get('message', response.status_code)}")
    return dict(body)

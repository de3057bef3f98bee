"""A small API server on loopback: nodes with resourceVersions and merge patches, discovery, refusals on demand."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CLUSTER_UID = "11111111-2222-3333-4444-555555555555"
CONTEXT = "hk-test"


class FakeCluster:
    """State and server; `refusals` maps a path to the status that every request of it gets."""

    def __init__(self) -> None:
        self.uid = CLUSTER_UID
        self.version = "v1.36.3"
        self.nodes: dict[str, dict[str, Any]] = {}
        self.apis: dict[str, dict[str, list[str]]] = {}
        """Group to version to kinds."""
        self.aggregated = True
        self.refusals: dict[str, int] = {}
        self.before_patch: Callable[[], None] | None = None
        """Called once before a patch is applied: what another writer does in between."""
        self.requests: list[tuple[str, str]] = []
        self.lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.02))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def add_node(self, name: str, *taints: dict[str, Any], labels: dict[str, str] | None = None, gpus: int = 0) -> None:
        self.nodes[name] = {
            "metadata": {"name": name, "labels": labels or {}, "annotations": {}, "resourceVersion": "1"},
            "spec": {"taints": list(taints)} if taints else {},
            "status": {
                "allocatable": {"nvidia.com/gpu": str(gpus)} if gpus else {},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }

    def taints(self, name: str) -> list[dict[str, Any]]:
        return list(self.nodes[name]["spec"].get("taints") or [])

    def write(self, name: str, taints: list[dict[str, Any]]) -> None:
        """A change by somebody else."""
        with self.lock:
            node = self.nodes[name]
            node["spec"]["taints"] = taints
            node["metadata"]["resourceVersion"] = str(int(node["metadata"]["resourceVersion"]) + 1)

    def kubeconfig(self, path: Path, **user: Any) -> Path:
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": CONTEXT, "context": {"cluster": "c", "user": "u"}}],
        }
        path.write_text(json.dumps(document))
        return path

    def answer(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, Any]:
        self.requests.append((method, path))
        if path in self.refusals:
            return self.refusals[path], {"message": f"refused on demand: {path}"}
        parts = path.strip("/").split("/")
        if parts[:3] == ["api", "v1", "nodes"]:
            if len(parts) == 3:
                return 200, {"items": list(self.nodes.values())}
            if parts[3] not in self.nodes:
                return 404, {"message": f'nodes "{parts[3]}" not found'}
            return self._patch(parts[3], body) if method == "PATCH" else (200, self.nodes[parts[3]])
        fixed: dict[str, Any] = {
            "/api/v1/namespaces/kube-system": {"metadata": {"name": "kube-system", "uid": self.uid}},
            "/version": {"gitVersion": self.version},
            "/apis": self._discovery(),
        }
        if path in fixed:
            return 200, fixed[path]
        if parts[0] == "apis" and len(parts) == 3:
            return 200, {"resources": [{"kind": kind} for kind in self.apis[parts[1]][parts[2]]]}
        return 404, {"message": "the server could not find the requested resource"}

    def _discovery(self) -> dict[str, Any]:
        if not self.aggregated:
            groups = [
                {"name": group, "versions": [{"version": version} for version in versions]}
                for group, versions in self.apis.items()
            ]
            return {"kind": "APIGroupList", "groups": groups}
        items = [
            {
                "metadata": {"name": group},
                "versions": [
                    {"version": version, "resources": [{"responseKind": {"kind": kind}} for kind in kinds]}
                    for version, kinds in versions.items()
                ],
            }
            for group, versions in self.apis.items()
        ]
        return {"kind": "APIGroupDiscoveryList", "items": items}

    def _patch(self, name: str, body: dict[str, Any] | None) -> tuple[int, Any]:
        if self.before_patch is not None:
            other, self.before_patch = self.before_patch, None
            other()
        node = self.nodes[name]
        assert body is not None
        if body["metadata"].pop("resourceVersion") != node["metadata"]["resourceVersion"]:
            return 409, {"message": "the object has been modified"}
        for key, value in body["metadata"]["annotations"].items():
            if value is None:
                node["metadata"]["annotations"].pop(key, None)
            else:
                node["metadata"]["annotations"][key] = value
        self.write(name, body["spec"]["taints"] or [])
        return 200, node

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._reply(None)

            def do_PATCH(self) -> None:
                self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _reply(self, body: dict[str, Any] | None) -> None:
                with cluster.lock:
                    status, answer = cluster.answer(self.command, self.path.partition("?")[0], body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        return Handler

"""Peers of a Qdrant cluster that know snapshots, as far as the backup talks to them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

KEY = "made-up"


@dataclass
class FakePeer:
    """`collections` are name → content of the peer's shards; `snapshots` what lies on its volume."""

    collections: dict[str, bytes] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    snapshots: dict[str, bytes] = field(default_factory=dict)
    torn: bool = False
    """Whether a snapshot that is fetched lacks its last byte."""
    asked: threading.Event = field(default_factory=threading.Event)
    """Set once a snapshot is fetched."""
    held: threading.Event | None = None
    """While it is not set, fetching a snapshot takes as long."""
    url: str = ""

    def answer(self, method: str, target: str, body: bytes, content_type: str) -> bytes | dict[str, Any] | list[Any]:
        """The `result` of a call, or bytes for a file; KeyError for what does not exist."""
        address = urlsplit(target)
        parts = [unquote(part) for part in address.path.strip("/").split("/")]
        match method, parts:
            case "GET", ["collections"]:
                return {"collections": [{"name": name} for name in self.collections]}
            case "GET", ["aliases"]:
                return {"aliases": [{"alias_name": k, "collection_name": v} for k, v in self.aliases.items()]}
            case "POST", ["collections", "aliases"]:
                for action in json.loads(body)["actions"]:
                    made = action["create_alias"]
                    self.aliases[made["alias_name"]] = made["collection_name"]
                return []
            case "POST", ["collections", name, "snapshots"]:
                content = self.collections[name]
                self.snapshots[f"{name}-1.snapshot"] = content
                digest = hashlib.sha256(content).hexdigest()
                return {"name": f"{name}-1.snapshot", "size": len(content), "checksum": digest}
            case "GET", ["collections", _, "snapshots", name]:
                self.asked.set()
                if self.held is not None:
                    self.held.wait(30)
                return self.snapshots[name][: -1 if self.torn else None]
            case "DELETE", ["collections", _, "snapshots", name]:
                del self.snapshots[name]
                return []
            case "POST", ["collections", name, "snapshots", "upload"]:
                query = parse_qs(address.query)
                boundary = content_type.partition("boundary=")[2].encode()
                head, _, rest = body.partition(b"\r\n\r\n")
                content = rest.removesuffix(b"\r\n--" + boundary + b"--\r\n")
                if b'name="snapshot"' not in head or query["checksum"] != [hashlib.sha256(content).hexdigest()]:
                    raise KeyError(name)
                self.collections[name] = content
                return []
        raise KeyError(target)


@contextmanager
def running(peers: list[FakePeer]) -> Iterator[None]:
    """Serve each peer at an address of its own, which is written into it."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(peer)) for peer in peers]
    threads = [threading.Thread(target=server.serve_forever, args=(0.02,)) for server in servers]
    for peer, server, thread in zip(peers, servers, threads, strict=True):
        peer.url = f"http://127.0.0.1:{server.server_port}"
        thread.start()
    try:
        yield
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(peer: FakePeer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            """Say nothing."""

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, content = 401, b""
            if self.headers.get("api-key") == KEY:
                try:
                    found = peer.answer(self.command, self.path, body, self.headers.get("content-type", ""))
                    content = found if isinstance(found, bytes) else json.dumps({"result": found}).encode()
                    status = 200
                except KeyError:
                    status = 404
            with contextlib.suppress(ConnectionError):  # whoever asked may be gone
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - names that the base class looks for

    return Handler

"""Runs inside the backup pod: snapshots of a Qdrant cluster to S3 and back. Needs boto3 and nothing of ours.

    snapshots.py backup            # every collection of every peer; manifest.json is written last and makes it complete
    snapshots.py list              # complete backups, the newest last
    snapshots.py restore STAMP     # all of a backup into a cluster of as many peers

The environment says where: PEERS (URLs, comma between them), API_KEY_FILE, BUCKET, PREFIX, and AWS's own variables.
"""

import hashlib
import http.client
import json
import os
import signal
import sys
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import boto3
from boto3.s3.transfer import TransferConfig

ANSWER_SECONDS = 3600
"""A snapshot of a large collection takes minutes, and Qdrant answers when it is made."""
SMALLEST_PART = 64 << 20
MOST_PARTS = 9000
BLOCK = 1 << 20
API_KEY_HEADER = "api-key"
BOUNDARY = "lantau-snapshot-boundary"


class SnapshotError(Exception):
    """What the log says before the pod ends with 1."""


class Peer:
    """One Qdrant peer, by its REST API."""

    def __init__(self, number: int, url: str, key: str) -> None:
        self.number = number
        self._address = urllib.parse.urlsplit(url)
        self._caller = {API_KEY_HEADER: key}

    @contextmanager
    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer, its body unread. SnapshotError for any status but 200; neither key nor body are told."""
        host = str(self._address.hostname)
        with closing(http.client.HTTPConnection(host, self._address.port, timeout=ANSWER_SECONDS)) as connection:
            try:
                connection.request(method, path, body, self._caller | dict(headers or {}))
                answer = connection.getresponse()
            except OSError as error:
                raise SnapshotError(f"peer {self.number}: {method} {path}: {error}") from None
            with answer:
                if answer.status != http.client.OK:
                    raise SnapshotError(f"peer {self.number}: {method} {path} was answered with {answer.status}")
                yield answer

    def result(self, method: str, path: str, value: Any = None) -> Any:
        """The `result` of an answer in JSON."""
        body = None if value is None else json.dumps(value)
        with self.ask(method, path, body, {"content-type": "application/json"}) as answer:
            return json.load(answer)["result"]

    def collections(self) -> list[str]:
        """Names of all collections."""
        return sorted(each["name"] for each in self.result("GET", "/collections")["collections"])


def peers(env: Mapping[str, str]) -> list[Peer]:
    """All peers of the cluster, in their order."""
    key = Path(env["API_KEY_FILE"]).read_text(encoding="utf-8").strip()
    return [Peer(number, url, key) for number, url in enumerate(env["PEERS"].split(","))]


class Hashed:
    """A stream that is being read, with its length and SHA-256 so far."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self.length = 0

    def read(self, amount: int = -1) -> bytes:
        """The next `amount` bytes."""
        block = self._stream.read(amount) if amount >= 0 else self._stream.read()
        self._hash.update(block)
        self.length += len(block)
        return block

    @property
    def digest(self) -> str:
        """SHA-256 of what was read, hexadecimal."""
        return self._hash.hexdigest()


def backup(env: Mapping[str, str], store: Any, stamp: str) -> None:
    """Put a snapshot of every collection of every peer into the store; the manifest comes last."""
    nodes = peers(env)
    entries = [_save(env, store, stamp, peer, collection) for peer in nodes for collection in peer.collections()]
    manifest = {
        "stamp": stamp,
        "peers": len(nodes),
        "aliases": nodes[0].result("GET", "/aliases")["aliases"],
        "snapshots": entries,
    }
    store.put_object(
        Bucket=env["BUCKET"],
        Key=f"{env['PREFIX']}/{stamp}/manifest.json",
        Body=json.dumps(manifest, indent=1).encode(),
        ContentType="application/json",
    )
    say(f"backup {stamp} is complete: {len(entries)} snapshots, {sum(each['bytes'] for each in entries)} bytes")


def _save(env: Mapping[str, str], store: Any, stamp: str, peer: Peer, collection: str) -> dict[str, Any]:
    begun = time.monotonic()
    place = f"/collections/{quoted(collection)}/snapshots"
    made = peer.result("POST", place)
    try:
        key = f"{env['PREFIX']}/{stamp}/{peer.number}/{collection}.snapshot"
        part = max(SMALLEST_PART, made["size"] // MOST_PARTS + 1)
        # One part in memory at a time: threads would hold ten.
        config = TransferConfig(multipart_threshold=part, multipart_chunksize=part, use_threads=False)
        with peer.ask("GET", f"{place}/{quoted(made['name'])}") as answer:
            stream = Hashed(answer)
            store.upload_fileobj(stream, env["BUCKET"], key, Config=config)
        if stream.length != made["size"] or made.get("checksum") not in (None, stream.digest):
            raise SnapshotError(f"peer {peer.number}: the snapshot of {collection} did not arrive whole")
    finally:
        # It lies on the data's own volume, which it would fill.
        peer.result("DELETE", f"{place}/{quoted(made['name'])}")
    say(f"peer {peer.number}: {collection}, {stream.length} bytes in {time.monotonic() - begun:.0f} s")
    return {
        "peer": peer.number,
        "collection": collection,
        "key": key,
        "bytes": stream.length,
        "sha256": stream.digest,
    }


def complete(env: Mapping[str, str], store: Any) -> list[str]:
    """Stamps of the backups whose manifest was written, the newest last."""
    pages = store.get_paginator("list_objects_v2").paginate(Bucket=env["BUCKET"], Prefix=f"{env['PREFIX']}/")
    keys = (found["Key"] for page in pages for found in page.get("Contents", ()))
    return sorted(key.split("/")[-2] for key in keys if key.endswith("/manifest.json"))


def restore(env: Mapping[str, str], store: Any, stamp: str) -> None:
    """Put every snapshot of a backup back on the peer that it came from; what is there now is overwritten."""
    known = complete(env, store)
    if stamp not in known:
        raise SnapshotError(f"there is no complete backup {stamp}; there are {', '.join(known) or 'none'}")
    body = store.get_object(Bucket=env["BUCKET"], Key=f"{env['PREFIX']}/{stamp}/manifest.json")["Body"]
    manifest = json.load(body)
    nodes = peers(env)
    if manifest["peers"] != len(nodes):
        raise SnapshotError(
            f"the backup is of {manifest['peers']} peers, and there are {len(nodes)}: set vector.replicas"
        )
    for entry in manifest["snapshots"]:
        _put_back(env, store, nodes[entry["peer"]], entry)
    if manifest["aliases"]:
        actions = [{"create_alias": alias} for alias in manifest["aliases"]]
        nodes[0].result("POST", "/collections/aliases", {"actions": actions})
    say(f"backup {stamp} is restored: {len(manifest['snapshots'])} snapshots")


def _put_back(env: Mapping[str, str], store: Any, peer: Peer, entry: Mapping[str, Any]) -> None:
    head = (
        f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="snapshot"; filename="snapshot"\r\n'
        "content-type: application/octet-stream\r\n\r\n"
    ).encode()
    tail = f"\r\n--{BOUNDARY}--\r\n".encode()
    stored = store.get_object(Bucket=env["BUCKET"], Key=entry["key"])["Body"]

    def parts() -> Iterator[bytes]:
        yield head
        while block := stored.read(BLOCK):
            yield block
        yield tail

    path = f"/collections/{quoted(entry['collection'])}/snapshots/upload?priority=snapshot&checksum={entry['sha256']}"
    headers = {
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "content-length": str(len(head) + entry["bytes"] + len(tail)),
    }
    with peer.ask("POST", path, parts(), headers):
        say(f"peer {peer.number}: {entry['collection']} is back, {entry['bytes']} bytes")


def quoted(name: str) -> str:
    """A name as one part of a path."""
    return urllib.parse.quote(name, safe="")


def say(text: str) -> None:
    """One line of the log."""
    print(text, flush=True)


def main(arguments: list[str], env: Mapping[str, str]) -> int:
    """Do what the arguments say; the exit code."""
    store = boto3.client("s3")
    match arguments:
        case ["backup"]:
            backup(env, store, datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"))
        case ["list"]:
            say("\n".join(complete(env, store)))
        case ["restore", stamp]:
            restore(env, store, stamp)
        case _:
            raise SnapshotError("say backup, list, or restore and the stamp of a backup")
    return 0


def ended(number: int, _frame: object) -> None:
    """Let a pod that must go remove the snapshot that it was reading."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, ended)
    try:
        sys.exit(main(sys.argv[1:], os.environ))
    except SnapshotError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
